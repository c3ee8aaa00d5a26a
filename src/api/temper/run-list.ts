/** What is going on now, on all nodes that a caller may see. */
import { z } from 'zod';
import type { RunListing } from '../../inventory/run-list';
import type { Caller } from '../../model/callers';
import { isTemperError, raise } from '../../model/errors';
import type { RunUuid } from '../../model/ids';
import { endedStates, type RunState } from '../../model/runs';
import type { Rooms } from '../rooms';
import { ok, route } from '../route';
import { uuid } from '../validation';
import { visibleRun } from './runs';
import * as shapes from './shapes';

const rule = 'temper:run:get';

/** Columns behind the target keys of rules about runs. */
const columns = { 'node.owner': 'now_owner', 'node.lessee': 'now_lessee', 'run.tenant': 'tenant' } as const;

const openStates = ['accepted', 'running', 'paused', 'waiting', 'parked'] as const satisfies readonly RunState[];

const limit = z
  .string()
  .regex(/^\d{1,4}$/, { error: 'must be a whole number' })
  .transform(Number)
  .refine((value) => value >= 1 && value <= 1000, { error: 'must be between 1 and 1000' });

const query = z.strictObject({
  limit: limit.default(100),
  marker: uuid.optional(),
  state: z
    .enum(openStates, {
      error: `must be one of ${openStates.join(', ')}; runs that are ${endedStates.join(', ')} are listed with their node`,
    })
    .optional(),
});

const shown = (run: RunListing, base: string) => ({
  uuid: run.id,
  node_uuid: run.node_uuid,
  node_name: run.node_name,
  verb: run.verb,
  runbook: run.runbook_name,
  state: run.state,
  requester: run.requester,
  cursor: run.cursor,
  step_count: run.steps,
  waiting_for: run.waiting_for,
  last_error: run.last_error,
  created_at: run.created_at.toISOString(),
  started_at: run.started_at?.toISOString() ?? null,
  updated_at: run.updated_at.toISOString(),
  links: { self: `${base}/temper/v1/runs/${run.id}` },
});

/** The run after which the page begins. Throws MarkerNotFound alike for missing and hidden ones. */
const markerOf = async (rooms: Rooms, who: Caller, marker: string | undefined): Promise<RunUuid | undefined> => {
  if (marker === undefined) return undefined;
  try {
    return (await visibleRun(rooms, who, marker)).run.id;
  } catch (thrown) {
    return isTemperError(thrown, 'RunNotFound') ? raise('MarkerNotFound', { marker }) : Promise.reject(thrown);
  }
};

export const runListRoutes = [
  route<unknown, z.output<typeof query>>({
    method: 'GET',
    path: '/temper/v1/runs',
    answers: { 200: shapes.openRuns },
    rules: [rule],
    query,
    handler: async (asking, rooms) => {
      const { limit: most, marker, state } = asking.query;
      const visible = rooms.policy().filter(rule, asking.who, columns);
      const after = await markerOf(rooms, asking.who, marker);
      const selection = { visible, state, limit: most, after };
      const rows = await rooms.inventory.runList.open(selection);
      return ok({ runs: rows.map((row) => shown(row, asking.base)) });
    },
  }),
];
