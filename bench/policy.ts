/** What a decision of the policy costs, and what it takes to load all rules; in this process, without a system. */

import { anonymous, type Caller } from '../src/model/access/callers';
import {
  allocationTarget,
  createPolicy,
  nodeTarget,
  type Policy,
  personas,
  runbookTarget,
  runTarget,
  type Target,
} from '../src/policy';
import { median, percentile } from './stats';

const node = nodeTarget({ owner: 'project-owner', lessee: 'project-lessee' });

/** The rules that requests ask most, each about the object it is asked about. */
const hottest: readonly (readonly [rule: string, target: Target])[] = [
  ['baremetal:node:get', node],
  ['baremetal:node:list_all', {}],
  ['baremetal:node:list', {}],
  ['baremetal:node:get:filter_threshold', node],
  ['baremetal:node:set_power_state', node],
  ['baremetal:node:set_provision_state', node],
  ['temper:node:run_runbook', node],
  ['baremetal:runbook:use', runbookTarget({ owner: null, public: true })],
  ['temper:run:get', runTarget({ owner: 'project-owner', lessee: 'project-lessee', tenant: 'project-lessee' })],
  ['baremetal:allocation:get', allocationTarget({ owner: 'project-owner' })],
];

/** One who passes by the first alternative, one by a late one, and one whom every alternative refuses. */
const callers: readonly (readonly [name: string, who: Caller])[] = [
  ['system-admin', personas['system-admin']],
  ['lessee-manager', personas['lessee-manager']],
  ['stranger-admin', personas['stranger-admin']],
];

const batch = 2_000;

/** Nanoseconds of one call, as the median over batches. */
const nsOf = (batches: number, work: () => unknown): number => {
  const samples = Array.from({ length: batches }, () => {
    const began = process.hrtime.bigint();
    for (let at = 0; at < batch; at += 1) work();
    return Number(process.hrtime.bigint() - began) / batch;
  });
  return median(samples);
};

/** Milliseconds of making a policy, the first time and after that. */
const loads = (times: number): { cold_ms: number; warm_ms: number } => {
  const samples = Array.from({ length: times }, () => {
    const began = performance.now();
    createPolicy({ set: 'temper' });
    return performance.now() - began;
  });
  return { cold_ms: samples[0]!, warm_ms: median(samples.slice(1)) };
};

const decisions = (policy: Policy, batches: number) =>
  hottest.map(([rule, target]) => {
    const ns = callers.map(([, who]) => nsOf(batches, () => policy.allows(rule, who, target)));
    return { rule, ns: median(ns), worst_ns: Math.max(...ns), per_s: 1e9 / median(ns) };
  });

/** @param batches of two thousand decisions, for each rule and caller */
export const measurePolicy = (batches: number) => {
  const load = loads(30);
  const policy = createPolicy({ set: 'temper' });
  const rules = decisions(policy, batches);
  const who = personas['lessee-member'];
  const explain = () => policy.explain('baremetal:node:set_provision_state', who, node);
  const filter = () => policy.filter('baremetal:node:get', who, { 'node.owner': 'owner', 'node.lessee': 'lessee' });
  const stranger = { ...anonymous, roles: ['reader'], project_id: 'p' };
  return {
    ...load,
    rules,
    median_ns: median(rules.map(({ ns }) => ns)),
    p90_ns: percentile(
      rules.map(({ ns }) => ns),
      0.9,
    ),
    // Credentials are made once for a caller, which the first decision of a request pays.
    first_ns: nsOf(batches, () => policy.allows('baremetal:node:get', { ...stranger }, node)),
    explain_us: nsOf(Math.ceil(batches / 10), explain) / 1_000,
    filter_us: nsOf(Math.ceil(batches / 10), filter) / 1_000,
  };
};

export type PolicyFigures = ReturnType<typeof measurePolicy>;
