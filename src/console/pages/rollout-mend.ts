/** The guided way out for a failed node of a rollout: steps that are listed before they are done. */
import { next, type ProvisionState, states } from '../../model/lifecycle/states';
import { isVerb } from '../../model/lifecycle/verbs';
import type { Rollout } from '../../wire/rollouts';
import type { Ask } from '../parts/acts';
import { type Api, ApiRefusal } from '../server/api';
import type { NodeView } from '../views';
import { holderOf, maintenanceRules, provisionRule, verbStateSays } from './node-offers';

const mendSteps = ['maintenance', 'manage', 'retry', 'resume'] as const;
type MendStep = (typeof mendSteps)[number];

export const mendLabels: Readonly<Record<MendStep, string>> = {
  maintenance: 'leave maintenance', manage: 'manage', retry: 'retry', resume: 'resume the rollout',
}; // biome-ignore format: one row

const doneTexts: Readonly<Record<MendStep, string>> = {
  maintenance: 'Maintenance has ended.',
  manage: 'The node is manageable.',
  retry: 'Its work starts again as soon as the rollout has room; until then it counts as failed.',
  resume: 'The rollout continues.',
};

const ruleOfStep: Readonly<Record<MendStep, string>> = {
  maintenance: maintenanceRules.off,
  manage: provisionRule,
  retry: 'temper:rollout:retry',
  resume: 'temper:rollout:resume',
};

export const mendRules = (steps: readonly MendStep[]): readonly string[] => steps.map((step) => ruleOfStep[step]);

export const mendAsks = (rollout: string, node: string): Ask[] => [
  { rule: ruleOfStep.maintenance, node },
  { rule: ruleOfStep.manage, node },
  { rule: ruleOfStep.retry, rollout, node },
  { rule: ruleOfStep.resume, rollout },
];

/** Fields of a node that decide the steps. */
export const mendFields =
  'uuid,name,provision_state,power_state,maintenance,maintenance_reason,fault,last_error,owner,lessee,driver,protected,retired,reservation';

const stateAfterManage = (from: ProvisionState): ProvisionState | undefined => {
  const to = next(from, 'manage');
  return to && states[to].kind === 'stable' ? to : undefined;
};

export type Mend = { readonly steps: readonly MendStep[]; readonly stateSays?: string };

/** Steps after which the rollout can work on the node again. `stateSays`: there is no such way. */
export const mendOf = ({ verb, state, code }: Rollout, node: NodeView): Mend => {
  const outside = { ...node, maintenance: false };
  const says = (provision_state: ProvisionState): string | undefined =>
    isVerb(verb)
      ? verbStateSays(verb, { node: { ...outside, provision_state }, holder: holderOf(node, []) })
      : undefined;
  const refused = says(node.provision_state);
  const managed = refused === undefined ? undefined : stateAfterManage(node.provision_state);
  const leads = managed !== undefined && says(managed) === undefined;
  return {
    steps: [
      ...(node.maintenance ? (['maintenance'] as const) : []),
      ...(leads ? (['manage'] as const) : []),
      'retry',
      ...(state === 'paused' && code === 'budget_spent' ? (['resume'] as const) : []),
    ],
    ...(refused !== undefined && !leads && { stateSays: refused }),
  };
};

type MendOrder = { readonly rollout: string; readonly node: string; readonly reason: string; readonly key: string };

const doStep = (api: Api, step: MendStep, { rollout, node, reason, key }: MendOrder): Promise<unknown> => {
  const [nodes, rollouts] = [`/v1/nodes/${encodeURIComponent(node)}`, `/temper/v1/rollouts/${encodeURIComponent(rollout)}`];
  const own = key ? `${key}:${step}` : undefined;
  switch (step) {
    case 'maintenance':
      return api.send('DELETE', `${nodes}/maintenance`, undefined);
    case 'manage':
      return api.send('PUT', `${nodes}/states/provision`, { target: 'manage' }, own);
    case 'retry':
      return api.send('POST', `${rollouts}/targets/${encodeURIComponent(node)}/retry`, { reason }, own);
    case 'resume':
      return api.send('POST', `${rollouts}/resume`, { reason }, own);
  }
}; // biome-ignore format: one address a row

/** @returns the sentence about it. Throws ApiRefusal that names the steps which were done before. */
export const mended = async (api: Api, steps: readonly MendStep[], order: MendOrder): Promise<string> => {
  const done: string[] = [];
  for (const step of steps) {
    try {
      await doStep(api, step, order);
    } catch (thrown) {
      if (!(thrown instanceof ApiRefusal) || thrown.status === 401 || done.length === 0) throw thrown;
      throw new ApiRefusal(
        thrown.status,
        `${done.join(' ')} Then the API refused “${mendLabels[step]}”: ${thrown.says}`,
      );
    }
    done.push(doneTexts[step]);
  }
  return done.join(' ');
};

export const stepsIn = (text: string): readonly MendStep[] =>
  mendSteps.filter((step) => text.split(',').includes(step));
