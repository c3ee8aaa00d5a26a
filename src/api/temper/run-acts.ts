/** What people do to a run that is going on: end it, stop it, go on, decide about the step it is parked in. */
import { z } from 'zod';
import type { RunRow } from '../../inventory/runs';
import { raise } from '../../model/errors';
import { nameOf } from '../../model/steps';
import { type RunAct, runActs } from '../../runs/contract';
import type { Rooms } from '../rooms';
import { type Asking, type Route, route } from '../route';
import { askedBy } from '../v1/node-orders';
import { targetOfRun, visibleRun } from './runs';

const body = z.strictObject({
  reason: z.string().trim().min(1, { error: 'say why; it stands in the audit trail' }).max(1_000),
  /** The step that the caller saw the run in; the one it is in now when absent. */
  step: z.int().min(0).optional(),
});
type Ask = Asking<{ run: string }, unknown, z.output<typeof body>>;

/** What will happen, told with the acceptance. */
const tells: Readonly<Record<RunAct, (run: RunRow, rooms: Rooms) => Promise<string>>> = {
  abort: async (run, rooms) => {
    const step = (await rooms.inventory.runs.input(run.id))?.steps[run.cursor];
    if (!step || run.state === 'waiting' || run.state === 'parked' || run.state === 'paused')
      return 'The run ends now.';
    return step.abortable
      ? `Step ${nameOf(step)} is cut short and the run ends.`
      : `Step ${nameOf(step)} must not be cut short: it is done first, then the run ends.`;
  },
  pause: async () => 'The step in progress is done first; the run stops before the next one and keeps the node.',
  resume: async () => 'The run goes on with its next step.',
  retry: async () => 'The step is run again.',
  skip: async () => 'The run goes on as if the step were done.',
  fail: async () => 'The run ends as failed.',
};

const perform = (act: RunAct) => async (asking: Ask, rooms: Rooms) => {
  const { who, params, body: given } = asking;
  const { run, node } = await visibleRun(rooms, who, params.run);
  const rule = `temper:run:${act}`;
  rooms.policy().require(rule, who, targetOfRun(run, node));
  if (run.finished_at) raise('Conflict', { reason: `Run ${run.id} has ended: ${run.state}.` });
  const will = await tells[act](run, rooms);
  await rooms.runs.operate({
    run: run.id,
    act,
    cursor: given.step ?? run.cursor,
    reason: given.reason,
    asked: askedBy(rooms.policy(), asking, rule),
  });
  return { status: 202, body: { will } };
};

export const runActRoutes: Route[] = runActs.map((act) =>
  route<{ run: string }, unknown, z.output<typeof body>>({
    method: 'POST',
    path: `/temper/v1/runs/:run/${act}`,
    rules: ['temper:run:get', `temper:run:${act}`],
    body,
    handler: perform(act),
  }),
);
