/** Deploy templates: an instance's traits select the templates whose steps join its deployment. */

import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import { raise } from '../model/errors';
import { planDeploySteps } from '../model/lifecycle/plan-deploy';
import { jsonBytes, PlanRoom } from '../model/lifecycle/plan-size';
import type { Equipment, PlannedStep } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import type { DeployTemplate, TemplateStep } from '../model/resources/deploy-templates';
import { nodeTarget, stepTarget } from '../policy';
import type { Checks } from './checks';
import type { AdmissionContext } from './context';
import { readable, refuseDisallowed, requireStepRules, stepRules } from './steps';

type TemplateRequest = { readonly who: Caller; readonly checks: Checks };

const traitsOf = (node: NodeRow): string[] => {
  const { traits } = node.instance_info;
  return Array.isArray(traits) ? traits.filter((trait) => typeof trait === 'string') : [];
};

/** Steps written without system scope count as the caller's choice. Throws PolicyDenied. */
const requireUnvouched = (
  ctx: AdmissionContext,
  { who, checks }: TemplateRequest,
  node: NodeRow,
  { vouched, steps }: DeployTemplate,
): void => {
  if (vouched) return;
  const policy = ctx.policy();
  checks.rule(policy, stepRules.deploy_steps, who, nodeTarget(node));
  requireStepRules(policy, who, stepTarget(node), steps, checks);
};

const checkOnce = (templates: readonly DeployTemplate[]): void => {
  const from = new Map<string, string>();
  for (const { name, steps } of templates)
    for (const step of steps.map(nameOf)) {
      const other = from.get(step);
      if (other)
        raise('InvalidSteps', {
          reason: `Step ${step} is in the deploy templates ${other} and ${name}; ask for one of these traits only.`,
        });
      from.set(step, name);
    }
};

/** Plans stored steps; references to secrets stay in the plan. */
const plannedSteps = (steps: readonly TemplateStep[], node: NodeRow & Equipment): PlannedStep[] =>
  planDeploySteps(
    steps.map((step) => ({ ...step, args: readable(step.args) as TemplateStep['args'] })),
    node,
  ).map((step, index) => (step.acts.length > 0 || step.waits ? { ...step, args: steps[index]!.args } : step));

/**
 * Template steps of a deployment. The caller's step replaces a template's step of the same name. Throws PolicyDenied, InvalidSteps.
 * @param own names of the caller's steps
 */
export const templateSteps = async (
  ctx: AdmissionContext,
  request: TemplateRequest,
  node: NodeRow & Equipment,
  own: readonly string[],
): Promise<PlannedStep[]> => {
  const templates = await ctx.inventory.deployTemplates.named(traitsOf(node));
  checkOnce(templates);
  for (const template of templates) requireUnvouched(ctx, request, node, template);
  const steps = templates.flatMap((template) => template.steps).filter((step) => !own.includes(nameOf(step)));
  refuseDisallowed(ctx, steps);
  const room = new PlanRoom();
  for (const { args } of steps) room.take(jsonBytes(args));
  return plannedSteps(steps, node);
};
