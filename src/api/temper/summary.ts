/** Counts of what a caller may see: nodes by state, power, fault and maintenance; runs that go on by phase. */
import type { NodeCount } from '../../inventory/summary';
import { never } from '../../model/predicates';
import type { RunState } from '../../model/runs/runs';
import { ok, route } from '../http/route';
import { visibleNodes } from '../resource/visibility';
import { runListRule, runTenantColumns } from './run-list';
import { phaseOf } from './run-outlook';
import * as shapes from './shapes';

type Counts = Readonly<Record<string, number>>;

const countsBy = <Row extends { readonly count: number }>(
  rows: readonly Row[],
  keyOf: (row: Row) => string | null,
): Counts => {
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const key = keyOf(row);
    if (key !== null) counts[key] = (counts[key] ?? 0) + row.count;
  }
  return counts;
};

const total = (rows: readonly NodeCount[]): number => rows.reduce((sum, { count }) => sum + count, 0);

/** A run in a list says less than one alone: its steps are not read. */
const phase = (state: string, retrying: boolean): string =>
  retrying ? 'retrying' : phaseOf({ state: state as RunState, cursor: 0, waiting_for: null, steps: [] });

const summaryRules = ['baremetal:node:list', 'baremetal:node:list_all', 'baremetal:node:get', runListRule];

const summary = route({
  method: 'GET',
  path: '/temper/v1/summary',
  answers: { 200: shapes.summary },
  rules: summaryRules,
  async handler({ who }, ctx) {
    const policy = ctx.policy();
    const found = await ctx.inventory.summary.of({
      nodes: visibleNodes(policy, who),
      runs: policy.filter(runListRule, who, runTenantColumns) ?? never,
    });
    return ok({
      nodes: {
        count: total(found.nodes),
        provision_state: countsBy(found.nodes, ({ provision_state }) => provision_state),
        power_state: countsBy(found.nodes, ({ power_state }) => power_state ?? 'unknown'),
        fault: countsBy(found.nodes, ({ fault }) => fault),
        maintenance: total(found.nodes.filter(({ maintenance }) => maintenance)),
      },
      runs: { phase: countsBy(found.runs, ({ state, retrying }) => phase(state, retrying)) },
    });
  },
});

export const summaryRoutes = [summary];
