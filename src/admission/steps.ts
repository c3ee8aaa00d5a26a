/** Steps of provision requests: rules per step and the operator's denylist. */

import type { z } from 'zod';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import { isSecretRef, secretRefs } from '../model/access/secrets';
import { raise } from '../model/errors';
import { planSteps } from '../model/lifecycle/plan-steps';
import type { Equipment, GivenStep, PlannedStep, StepVerb } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import { leavesOpen } from '../model/resources/runbook-parameters';
import { nodeTarget, type Policy, ruleNames, stepRulePrefix, stepTarget, type Target } from '../policy';
import { type Checks, firstRefusal } from './checks';
import type { AdmissionContext } from './context';
import type { ProvisionAsked } from './request';
import type { requestStep } from './schemas';

export type WireStep = z.output<typeof requestStep>;

/** The rule per kind of raw steps. */
export const stepRules = {
  clean_steps: 'baremetal:node:set_provision_state:clean_steps',
  service_steps: 'baremetal:node:set_provision_state:service_steps',
  deploy_steps: 'temper:node:deploy_steps',
} as const;

/** Request keys with steps. */
export const stepKeys = Object.keys(stepRules) as (keyof typeof stepRules)[];

/** The rules of single steps: the built-in ones and those of the policy file. */
export const stepRuleNames: readonly string[] = [
  `${stepRulePrefix}*`,
  ...ruleNames.filter((name) => name.startsWith(stepRulePrefix)),
];

/** Refuses child names without steps on children, and arguments that reference stored secrets. Throws InvalidSteps. */
export const checkRawSteps = (steps: readonly WireStep[]): void => {
  for (const step of steps) {
    if (step.limit_child_node_execution?.length && !step.execute_on_child_nodes)
      raise('InvalidSteps', {
        reason: `Step ${nameOf(step)}: limit_child_node_execution needs execute_on_child_nodes to be true.`,
      });
    if (secretRefs(step.args ?? {}).length > 0)
      raise('InvalidSteps', { reason: `Step ${nameOf(step)}: an object with the single key $secret is reserved.` });
    if (leavesOpen(step.args))
      raise('InvalidSteps', { reason: `Step ${nameOf(step)}: $param and $by stand in runbooks only; give the value.` });
  }
};

/** Applies the operator's rules for single steps. A step without rule is free. Throws PolicyDenied. */
export const requireStepRules = (
  policy: Policy,
  who: Caller,
  target: Target,
  steps: readonly { interface: string; step: string }[],
  checks: Checks = firstRefusal,
): void => {
  for (const step of steps) {
    const rule = `${stepRulePrefix}${nameOf(step)}`;
    if (policy.has(rule)) checks.rule(policy, rule, who, target);
  }
};

/** Raw steps need the rule for free-form lists, then the operator's rules for single steps. */
export const requireRawSteps = (policy: Policy, { who, body }: ProvisionAsked, node: NodeRow, checks: Checks): void => {
  const target = nodeTarget(node);
  for (const key of stepKeys) {
    const steps = body[key];
    if (steps === undefined) continue;
    // An empty list of deploy steps is no choice.
    if (steps.length > 0 || key !== 'deploy_steps') checks.rule(policy, stepRules[key], who, target);
    requireStepRules(policy, who, stepTarget(node), steps, checks);
  }
};

/** Refuses steps that the operator disallows for all callers. Throws InvalidSteps. */
export const refuseDisallowed = (
  ctx: AdmissionContext,
  steps: readonly { interface: string; step: string }[],
): void => {
  const wrong = steps.map(nameOf).filter((name) => ctx.settings.disallowedSteps.includes(name));
  if (wrong.length > 0)
    raise('InvalidSteps', { reason: `The operator does not allow ${[...new Set(wrong)].join(', ')} here.` });
};

/** Stored arguments with texts in place of references. The referenced texts were checked on write. */
export const readable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_key, inner) => (isSecretRef(inner) ? 'secret' : inner));

/** Plans stored steps; references to secrets stay in the plan. */
export const planStored = (
  steps: readonly GivenStep[],
  verb: StepVerb,
  node: Equipment,
  checks: Checks = firstRefusal,
): PlannedStep[] => {
  const planned = planSteps(
    steps.map(({ interface: name, step, args, temper }) => ({
      interface: name,
      step,
      temper,
      args: readable(args ?? {}) as Record<string, unknown>,
    })),
    verb,
    node,
    checks.try,
  );
  return planned.map((step) => ({ ...step, args: steps[step.index]!.args ?? {} }));
};
