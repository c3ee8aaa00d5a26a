/** Flat target keys that rules read, and the type of each key. */

import type { Target } from '../types';

type KeyRow = {
  readonly holds: 'text' | 'boolean';
  /** Only `compat` leaves it out if it is null: as Ironic does, or so that no caller without a project matches it. */
  readonly absentWhenNull?: boolean;
};

/** All target keys of Temper. Any other key is missing, and a check on it is false. */
export const targetKeys: Readonly<Record<string, KeyRow>> = {
  'node.owner': { holds: 'text' },
  'node.lessee': { holds: 'text', absentWhenNull: true },
  'allocation.owner': { holds: 'text' },
  'runbook.owner': { holds: 'text' },
  'runbook.public': { holds: 'boolean' },
  'run.tenant': { holds: 'text' },
  'step.by': { holds: 'text' },
  'disruption_budget.project': { holds: 'text' },
  'window.project': { holds: 'text' },
  'webhook.project': { holds: 'text', absentWhenNull: true },
  'usage.project': { holds: 'text' },
  'rollout.project': { holds: 'text' },
  'rollout.requester': { holds: 'text' },
  'rollout.size': { holds: 'text' },
  'rollout.erases': { holds: 'boolean' },
  'rollout.power': { holds: 'boolean' },
  'rollout.projects': { holds: 'text' },
  'rollout.tenant': { holds: 'text' },
};

/** For a node, or a port, portgroup or volume of one. */
export const nodeTarget = (node: { owner: string | null; lessee: string | null }): Target => ({
  'node.owner': node.owner,
  'node.lessee': node.lessee,
});

/** For a step that a request carries. Steps of a runbook have no `step.by`. */
export const stepTarget = (node: { owner: string | null; lessee: string | null }): Target => ({
  ...nodeTarget(node),
  'step.by': 'request',
});

export const runbookTarget = (runbook: { owner: string | null; public: boolean }): Target => ({
  'runbook.owner': runbook.owner,
  'runbook.public': runbook.public,
});

/** `tenant`: project of the lease that the run started under, while it lasts; else null. */
export const runTarget = (run: { owner: string | null; lessee?: string | null; tenant: string | null }): Target => ({
  'node.owner': run.owner,
  'node.lessee': run.lessee ?? null,
  'run.tenant': run.tenant,
});

export const disruptionTarget = (budget: { project: string | null }): Target => ({
  'disruption_budget.project': budget.project,
});

export const windowTarget = (window: { project: string | null }): Target => ({
  'window.project': window.project,
});

/** `project`: null for a webhook of the installation. */
export const webhookTarget = (webhook: { project: string | null }): Target => ({
  'webhook.project': webhook.project,
});

/** `project`: null for the usage of all projects. */
export const usageTarget = (usage: { project: string | null }): Target => ({ 'usage.project': usage.project });

/** Facts of a rollout's plan and of its requested node. */
export type RolloutFacts = {
  /** The smallest of these that is not less than the number of nodes. */
  readonly size: '1' | '10' | '100' | '1000' | 'more';
  readonly erases: boolean;
  readonly power: boolean;
  /** Projects that use the nodes: the rollout's own alone, one other, or several. */
  readonly projects: 'own' | 'one' | 'several';
  /** Project that uses the requested node; absent without a node. */
  readonly tenant?: string | null;
};

/** `requester`: user who planned the rollout. */
export const rolloutTarget = (
  rollout: { project: string | null; requester: string | null } & Partial<RolloutFacts>,
): Target => ({
  'rollout.project': rollout.project,
  'rollout.requester': rollout.requester,
  'rollout.size': rollout.size ?? null,
  'rollout.erases': rollout.erases ?? null,
  'rollout.power': rollout.power ?? null,
  'rollout.projects': rollout.projects ?? null,
  'rollout.tenant': rollout.tenant ?? null,
});

export const allocationTarget = (allocation: { owner: string | null }): Target => ({
  'allocation.owner': allocation.owner,
});
