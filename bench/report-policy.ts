/** The tables of what the policy costs. */
import type { PolicyFigures } from './policy';
import { amount, ms, rate, table } from './table';

export const policyTables = (found: PolicyFigures): string[] => [
  `Policy: ${ms(found.cold_ms)} ms to load every rule in a new process, ${ms(found.warm_ms)} ms after that; explain ${found.explain_us.toFixed(1)} us, a list's filter ${found.filter_us.toFixed(1)} us, the first decision for a caller ${amount(found.first_ns)} ns`,
  table(
    ['decision', 'ns', 'worst caller', '/s'],
    found.rules.map(({ rule, ns, worst_ns, per_s }) => [rule, amount(ns), amount(worst_ns), rate(per_s)]),
  ),
];
