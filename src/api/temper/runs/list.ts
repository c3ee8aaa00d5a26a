/** List of runs on all nodes that a caller may see. */

import { z } from 'zod';
import { type BmcText, bmcTextFor, seesBmcRule } from '../../../admission/bmc-texts';
import { eventRules } from '../../../admission/events';
import { visibleNode } from '../../../admission/visibility';
import type { RunFilter, RunListing, RunSelection } from '../../../inventory/runs/list';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { asUuid, type NodeUuid, uuidsFrom } from '../../../model/ids';
import { maxMinor } from '../../../model/resources/microversions';
import type { RunState } from '../../../model/runs/runs';
import * as shapes from '../../../wire/runs';
import type { ApiContext } from '../../context';
import { markedRecord, readPage, unless, uuidPage } from '../../resource/own-pages';
import { revisionNumber } from '../../resource/validation';
import { type ApiRequest, ok, route } from '../../server/route';
import { visibleRun } from './runs';

export const runListRule = eventRules.run;
const runsPath = '/temper/v1/runs';

export const runTenantColumns = {
  'node.owner': 'now_owner',
  'node.lessee': 'now_lessee',
  'run.tenant': 'tenant',
} as const;

const runStates = [
  'accepted', 'running', 'paused', 'waiting', 'parked', 'succeeded', 'failed', 'aborted',
] as const satisfies readonly RunState[]; // biome-ignore format: one row of names
const runFilters = ['open', 'ended', 'any', 'retrying', ...runStates] as const satisfies readonly RunFilter[];

const runListQuery = z.strictObject({
  ...uuidPage,
  /** One or several, separated by commas. */
  state: z
    .string()
    .regex(new RegExp(`^(?:${runFilters.join('|')})(?:,(?:${runFilters.join('|')}))*$`), {
      error: `must be one or several of ${runFilters.join(', ')}`,
    })
    .default('open')
    .transform((given) => [...new Set(given.split(','))] as RunFilter[]),
  /** Order of acceptance. */
  sort_dir: z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).default('desc'),
  verb: z
    .string()
    .regex(/^[a-z]{1,30}$/, { error: 'must be a verb, such as clean' })
    .optional(),
  node: z.string().min(1).max(255).optional(),
  runbook: z.string().min(1).max(255).optional(),
  /** Requires `runbook`: each runbook counts its own revisions. */
  runbook_revision: revisionNumber.optional(),
  since: z.iso.datetime({ offset: true, error: 'must be a time, such as 2026-11-30T18:00:00Z' }).optional(),
  /** For users who type the beginning of a UUID. */
  run: z
    .string()
    .regex(/^[0-9a-f-]{4,36}$/i, { error: 'must be the beginning of a UUID, at least four characters' })
    .optional(),
});

const isRetrying = ({ state, step_state, step_error }: RunListing): boolean =>
  state === 'running' && step_state === 'running' && step_error !== null;

const runListView = (run: RunListing, base: string, text: BmcText) => ({
  uuid: run.id,
  node_uuid: run.node_uuid,
  node_name: run.node_name,
  verb: run.verb,
  runbook: run.runbook_name,
  runbook_revision: run.runbook_revision,
  state: run.state,
  requester: run.requester,
  cursor: run.cursor,
  step: run.step,
  step_count: run.steps,
  /** An attempt failed, and the next one follows or is under way. */
  retrying: isRetrying(run),
  attempt: run.attempt,
  waiting_for: text(run.waiting_for),
  waiting_since: run.waiting_for === null ? null : (run.waiting_since?.toISOString() ?? null),
  last_error: text(run.last_error ?? (isRetrying(run) || run.state === 'parked' ? run.step_error : null)),
  created_at: run.created_at.toISOString(),
  started_at: run.started_at?.toISOString() ?? null,
  finished_at: run.finished_at?.toISOString() ?? null,
  updated_at: run.updated_at.toISOString(),
  links: { self: `${base}/temper/v1/runs/${run.id}` },
});

/** A name must be of a visible node; a UUID may be of a deleted one. Throws NodeNotFound. */
const visibleNodeUuid = async (
  ctx: ApiContext,
  who: Caller,
  ident: string | undefined,
): Promise<NodeUuid | undefined> => {
  if (ident === undefined) return undefined;
  const known = asUuid(ident);
  return known ? (known as NodeUuid) : (await visibleNode(ctx, { who, version: maxMinor }, ident)).uuid;
};

const runbookOf = (ident: string | undefined): RunSelection['runbook'] => {
  if (ident === undefined) return undefined;
  const known = asUuid(ident);
  return known ? { uuid: known } : { name: ident };
};

const listRuns = async (request: ApiRequest<unknown, z.output<typeof runListQuery>, unknown>, ctx: ApiContext) => {
  const { marker, state: states, sort_dir, verb, node, runbook, runbook_revision: revision, since, run } = request.query; // biome-ignore format: one row
  if (revision !== undefined && runbook === undefined)
    raise('InvalidInput', {
      field: 'runbook_revision',
      reason: 'is the number of a revision of `runbook`; give that too',
    });
  const visible = ctx.policy().filter(runListRule, request.who, runTenantColumns);
  const between = run === undefined ? undefined : uuidsFrom(run);
  if (run !== undefined && !between) return ok({ runs: [] });
  const after = await markedRecord(
    marker,
    unless('RunNotFound', (ident) => visibleRun(ctx, request.who, ident)),
  );
  const selection: Omit<RunSelection, 'limit'> = {
    visible,
    states,
    oldestFirst: sort_dir === 'asc',
    ...(verb !== undefined && { verb }),
    node: await visibleNodeUuid(ctx, request.who, node),
    runbook: runbookOf(runbook),
    ...(revision !== undefined && { revision }),
    ...(since !== undefined && { since: new Date(since) }),
    ...(between && { between }),
    after: after?.run.id,
  };
  const { rows, next } = await readPage(
    request,
    runsPath,
    (limit) => ctx.inventory.runList.page({ ...selection, limit }),
    ({ id }) => id,
  );
  const textOf = ({ now_owner, now_lessee }: RunListing) =>
    bmcTextFor(ctx.policy(), request.who, { owner: now_owner, lessee: now_lessee });
  return ok({ runs: rows.map((row) => runListView(row, request.base, textOf(row))), ...next });
};

export const runListRoutes = [
  route({
    method: 'GET',
    path: runsPath,
    answers: { 200: shapes.openRuns },
    rules: [runListRule, 'baremetal:node:get', seesBmcRule],
    query: runListQuery,
    handler: listRuns,
  }),
];
