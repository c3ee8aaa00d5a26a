/** Counts of visible nodes and open runs: of all nodes, or for each value of a column. */
import { z } from 'zod';
import type { RunCount } from '../../inventory/summary';
import { raise } from '../../model/errors';
import { never } from '../../model/predicates';
import { type Summarized, summarized } from '../../model/resources/summarized';
import type { RunState } from '../../model/runs/runs';
import * as shapes from '../../wire/installation';
import type { ApiContext } from '../context';
import { readPage } from '../resource/own-pages';
import { pageLimit } from '../resource/validation';
import { visibleNodes } from '../resource/visibility';
import { type ApiRequest, ok, route } from '../server/route';
import { runListRule, runTenantColumns } from './runs/list';
import { phaseOf } from './runs/outlook';

type Counts = Readonly<Record<string, number>>;

const total = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

const phasesOf = (runs: readonly RunCount[]): Counts => {
  const counts: Record<string, number> = {};
  for (const { state, retrying, count } of runs) {
    const key = phase(state, retrying);
    counts[key] = (counts[key] ?? 0) + count;
  }
  return counts;
};

/** A list has fewer phases, because it does not read steps. */
const phase = (state: string, retrying: boolean): string =>
  retrying ? 'retrying' : phaseOf({ state: state as RunState, cursor: 0, waiting_for: null, steps: [] });

const summaryRules = ['baremetal:node:list', 'baremetal:node:list_all', 'baremetal:node:get', runListRule];

const summaryPath = '/temper/v1/summary';

const summaryQuery = z.strictObject({
  /** `trouble` leaves the other counts empty, which is cheap among many nodes. */
  only: z.enum(['trouble'], { error: 'must be trouble' }).optional(),
  /** Counts for each value of this in place of the whole. */
  by: z.enum(summarized, { error: `must be one of ${summarized.join(', ')}` }).optional(),
  limit: pageLimit,
  /** A value. */
  marker: z.string().max(255).optional(),
});
type SummaryRequest = ApiRequest<unknown, z.output<typeof summaryQuery>, unknown>;

const whole = async ({ who, query }: SummaryRequest, ctx: ApiContext): Promise<shapes.Summary> => {
  if (query.marker !== undefined) raise('InvalidInput', { field: 'marker', reason: 'needs `by`' });
  const policy = ctx.policy();
  const found = await ctx.inventory.summary.of({
    nodes: visibleNodes(policy, who),
    runs: policy.filter(runListRule, who, runTenantColumns) ?? never,
    trouble: query.only === 'trouble',
  });
  const { provision_state, power_state, fault, maintenance } = found.nodes;
  const count = total(provision_state);
  return {
    nodes: { count, provision_state, power_state, fault, maintenance: total(maintenance) },
    runs: { phase: phasesOf(found.runs) },
  };
};

const grouped = async (request: SummaryRequest, by: Summarized, ctx: ApiContext): Promise<shapes.SummaryBy> => {
  const { only, marker: after } = request.query;
  if (only !== undefined) raise('InvalidInput', { field: 'only', reason: 'cannot be combined with `by`' });
  const nodes = visibleNodes(ctx.policy(), request.who);
  const { rows, next } = await readPage(
    request,
    summaryPath,
    (limit) => ctx.inventory.summaryGroups.page({ by, nodes, limit, ...(after !== undefined && { after }) }),
    // Only the last group of all is without a value.
    ({ value }) => value ?? '',
  );
  return { by, groups: rows, ...next };
};

const summary = route({
  method: 'GET',
  path: summaryPath,
  answers: { 200: z.union([shapes.summary, shapes.summaryBy]) },
  rules: summaryRules,
  query: summaryQuery,
  handler: async (request, ctx) =>
    ok(request.query.by === undefined ? await whole(request, ctx) : await grouped(request, request.query.by, ctx)),
});

export const summaryRoutes = [summary];
