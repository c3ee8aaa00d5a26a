/** Counts of visible nodes and open runs. */
import { z } from 'zod';
import type { RunCount } from '../../inventory/summary';
import { never } from '../../model/predicates';
import type { RunState } from '../../model/runs/runs';
import * as shapes from '../../wire/installation';
import { visibleNodes } from '../resource/visibility';
import { ok, route } from '../server/route';
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

const summaryQuery = z.strictObject({
  /** `trouble` leaves the other counts empty, which is cheap among many nodes. */
  only: z.enum(['trouble'], { error: 'must be trouble' }).optional(),
});

const summary = route({
  method: 'GET',
  path: '/temper/v1/summary',
  answers: { 200: shapes.summary },
  rules: summaryRules,
  query: summaryQuery,
  async handler({ who, query }, ctx) {
    const policy = ctx.policy();
    const found = await ctx.inventory.summary.of({
      nodes: visibleNodes(policy, who),
      runs: policy.filter(runListRule, who, runTenantColumns) ?? never,
      trouble: query.only === 'trouble',
    });
    const { provision_state, power_state, fault, maintenance } = found.nodes;
    return ok({
      nodes: {
        count: total(provision_state),
        provision_state,
        power_state,
        fault,
        maintenance: total(maintenance),
      },
      runs: { phase: phasesOf(found.runs) },
    });
  },
});

export const summaryRoutes = [summary];
