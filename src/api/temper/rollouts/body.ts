/** Request bodies of rollouts: selection, work, waves and bounds. */

import { z } from 'zod';
import { firmwareBaseline, parameterValues } from '../../../admission/request';
import { flag } from '../../../admission/schemas';
import type { Caller } from '../../../model/access/callers';
import { type PowerTarget, powerTargets } from '../../../model/lifecycle/states';
import { type Amount, isAmount } from '../../../model/rollouts/amounts';
import { isBudgetKey } from '../../../model/rollouts/disruption';
import { domainFault } from '../../../model/rollouts/domains';
import type { RolloutSpec } from '../../../model/rollouts/spec';
import { targetOrders } from '../../../model/rollouts/waves';
import { knowing } from '../../body/schema-texts';
import { uuid } from '../../resource/validation';
import { nodeQuery } from '../node-query';

/** Refuses other keys and suggests the right one. */
const keyed = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, { error: knowing(Object.keys(shape)) });

/** Verbs that need nothing but the node. */
const rolloutVerbs = ['service', 'clean', 'inspect', 'manage', 'provide', 'power'] as const;
const mostWaves = 100;
const longestList = 100_000;

const amount = z.custom<Amount>(isAmount, { error: 'must be a whole number from 1 on, or a percentage such as "5%"' });

const durationUnits: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const duration = z
  .string()
  .regex(/^\d{1,4}[smh]$/, { error: 'must be a duration such as 90s, 30m or 4h' })
  .transform((text) => Number.parseInt(text, 10) * durationUnits[text.at(-1)!]!);

const bounds = {
  query: z.string().trim().min(1).max(2_000),
  at_least: z.number().optional(),
  at_most: z.number().optional(),
  interval: duration
    .refine((ms) => ms >= 10_000 && ms <= 3_600_000, { error: 'must be at least 10s and at most 1h' })
    .optional(),
  fail_limit: z.int().min(0).max(99).optional(),
  inconclusive_limit: z.int().min(0).max(99).optional(),
};
type Bounds = { readonly at_least?: number; readonly at_most?: number };
const isBounded = ({ at_least, at_most }: Bounds): boolean => at_least !== undefined || at_most !== undefined;
const unbounded = { error: 'needs at_least, at_most or both' };
const inMs = <Asked extends { readonly interval?: number }>({ interval, ...metric }: Asked) => ({
  ...metric,
  ...(interval !== undefined && { interval_ms: interval }),
});

const metric = keyed({ ...bounds, count: z.int().min(1).max(100).optional() })
  .refine(isBounded, unbounded)
  .refine(({ count = 1, interval }) => count > 1 || interval === undefined, { error: 'interval comes with a count' })
  .refine(({ count = 1, fail_limit = 0, inconclusive_limit = 0 }) => fail_limit + inconclusive_limit < count, {
    error: 'fail_limit and inconclusive_limit together must be less than count: one answer at least has to pass',
  })
  .transform(inMs);
// Without count: a guard is queried repeatedly with the same bounds.
const guardMetric = keyed(bounds)
  .refine(isBounded, unbounded)
  .refine(({ interval, fail_limit = 0, inconclusive_limit = 0 }) => !interval || fail_limit + inconclusive_limit > 0, {
    error: 'interval comes with a fail_limit or an inconclusive_limit: how long after one the guard is evaluated again',
  })
  .transform(inMs);
const webhookGate = keyed({ webhook: uuid });
const gate = z.union([webhookGate, keyed({ metric })]);
const guard = z.union([webhookGate, keyed({ metric: guardMetric })]);

const longestSoakMs = 7 * 24 * 3_600_000;
const soak = duration.refine((ms) => ms <= longestSoakMs, { error: 'must be at most 168h' });
const between = { soak: soak.optional(), advance: z.enum(['manual', 'auto']).optional(), gate: gate.optional() };
const wave = z.union([keyed({ size: amount, ...between }), keyed({ rest: z.literal(true), ...between })]);

const by = z
  .string()
  .max(100)
  .superRefine((text, context) => {
    const fault = domainFault(text);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  });
const bound = keyed({ by, max: amount });

// Node keys in addition to those of disruption budgets.
const moreKeys = ['owner', 'lessee', 'driver', 'provision_state', 'traits_any'];
const query = nodeQuery({
  isKey: (key) => isBudgetKey(key) || moreKeys.includes(key),
  unknown: 'is nothing to choose nodes by',
});

const select = keyed({
  nodes: z.array(z.string().min(1).max(255)).min(1).max(longestList).optional(),
  query: query.optional(),
  exclude_rollouts: z.array(z.string().min(1).max(64)).max(20).optional(),
  limit: z.int().min(1).max(longestList).optional(),
  percent: z
    .custom<Amount>((value) => typeof value === 'string' && isAmount(value), { error: 'must be a percentage' })
    .optional(),
})
  .refine(({ nodes, query }) => nodes !== undefined || query !== undefined, { error: 'give nodes, or a query' })
  .refine(({ limit, percent }) => limit === undefined || percent === undefined, {
    error: 'give limit or percent, not both',
  });

const saidReason = z.string().trim().min(1, { error: 'say why; the tenants read it' }).max(1_000);

const limits = {
  waves: z
    .array(wave)
    .min(1)
    .max(mostWaves)
    .default([{ size: 1 }, { rest: true }]),
  order: z.enum(targetOrders).default('spread'),
  spread: z.array(bound).max(5).default([]),
  budget: keyed({
    mode: z.enum(['strict', 'stop']).default('strict'),
    total: amount.default('1%'),
    wave: amount.optional(),
    each: z.array(bound).max(5).default([]),
  })
    .refine(({ mode, wave: ofWave, each }) => mode === 'strict' || (ofWave === undefined && each.length === 0), {
      error: 'with mode stop only total is counted; wave and each are bounds of a strict budget',
    })
    .default({ mode: 'strict', total: '1%', each: [] }),
  power_starts_per_minute: z
    .array(keyed({ by, max: z.int().min(1) }))
    .max(5)
    .default([]),
  max_in_flight: amount.optional(),
  ramp: flag.default(false),
  guard: guard.optional(),
  max_skipped: amount.optional(),
  consent: keyed({
    grace: duration.default(24 * 3_600_000),
    force: z.enum(['never', 'rule']).default('never'),
    reason: saidReason.optional(),
  })
    .refine(({ force, reason }) => force === 'never' || reason !== undefined, {
      error: 'force: rule needs a reason; the tenants read it',
    })
    .transform(({ grace, force, reason }) => ({ grace_ms: grace, force, ...(reason !== undefined && { reason }) }))
    .optional(),
  override_budgets: keyed({ reason: saidReason }).optional(),
};

const work = {
  name: z.string().trim().min(1).max(255).nullable().default(null),
  verb: z.enum(rolloutVerbs).default('service'),
  runbook: z.string().min(1).max(255).nullable().default(null),
  power: keyed({
    target: z.enum(Object.keys(powerTargets) as [PowerTarget, ...PowerTarget[]]),
    timeout: duration.optional(),
  })
    .transform(({ target, timeout }) => ({ target, ...(timeout !== undefined && { timeout_ms: timeout }) }))
    .optional(),
  baseline: z.array(firmwareBaseline).min(1).max(100).optional(),
  parameters: parameterValues.optional(),
  seed: z.string().min(1).max(64).optional(),
};

type AskedWork = {
  readonly verb: string;
  readonly runbook: string | null;
  readonly power?: unknown;
  readonly baseline?: unknown;
  readonly parameters?: unknown;
};

const checkWork = ({ verb, runbook, power, baseline, parameters }: AskedWork, context: z.RefinementCtx): void => {
  const fault = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
  if ((verb === 'power') !== (power !== undefined))
    fault('power', power === undefined ? 'says which change verb power is to make' : 'comes with verb power alone');
  if (verb === 'power' && runbook !== null) fault('runbook', 'does not come with verb power');
  if (parameters !== undefined && runbook === null) fault('parameters', 'come with a runbook');
  if (baseline === undefined) return;
  if (runbook !== null) fault('baseline', 'comes without a runbook');
  if (verb !== 'service' && verb !== 'clean') fault('baseline', 'comes with verb service or clean');
};

export const rolloutBody = keyed({
  ...work,
  ...limits,
  select,
  project: z.string().min(1).max(255).optional(),
}).superRefine(checkWork);
export type RolloutBody = z.output<typeof rolloutBody>;

/** Without a selection: the nodes come from another rollout. */
export const rollbackBody = keyed({
  ...work,
  ...limits,
  targets: z.enum(['done', 'failed']),
  reason: z.string().trim().min(1).max(1_000),
}).superRefine(checkWork);
export type RollbackBody = z.output<typeof rollbackBody>;

const wavesOf = (waves: RolloutBody['waves']): RolloutSpec['waves'] =>
  waves.map((given, index) => ({
    size: 'size' in given ? given.size : 'rest',
    // By default, an operator reviews the first wave.
    advance: given.advance ?? (index === 0 ? 'manual' : 'auto'),
    soak_ms: given.soak ?? 0,
    ...(given.gate && { gate: given.gate }),
  }));

/** Without a named project, the caller's; for a caller without one, the system's. */
export const specOf = ({ waves, project, ...rest }: RolloutBody, { project_id }: Caller): RolloutSpec => ({
  ...rest,
  project: project ?? project_id,
  waves: wavesOf(waves),
});
