/** Builds the flat target keys that rules read, and says what each key can hold. */

import type { Target } from '../types';

type KeyRow = {
  readonly holds: 'text' | 'boolean';
  /** The reference leaves this key out when it is null; only `compat` cares. */
  readonly absentWhenNull?: boolean;
};

/** Every target key that the product sets. A key an operator invents is missing, and what asks for it is false. */
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
  'rollout.project': { holds: 'text' },
  'rollout.requester': { holds: 'text' },
  'rollout.size': { holds: 'text' },
  'rollout.erases': { holds: 'boolean' },
  'rollout.power': { holds: 'boolean' },
  'rollout.projects': { holds: 'text' },
  'rollout.tenant': { holds: 'text' },
};

/** Target of a rule about a node, or about something that belongs to one (port, portgroup, volume). */
export const nodeTarget = (node: { owner: string | null; lessee: string | null }): Target => ({
  'node.owner': node.owner,
  'node.lessee': node.lessee,
});

/** Target of a rule about a step that a request itself brings, for a node; those of a runbook do not say `step.by`. */
export const stepTarget = (node: { owner: string | null; lessee: string | null }): Target => ({
  ...nodeTarget(node),
  'step.by': 'request',
});

/** Target of a rule about a runbook. */
export const runbookTarget = (runbook: { owner: string | null; public: boolean }): Target => ({
  'runbook.owner': runbook.owner,
  'runbook.public': runbook.public,
});

/** Target of a rule about a run. `tenant` is the project of the lease it ran under while that lease lasts, else null. */
export const runTarget = (run: { owner: string | null; lessee?: string | null; tenant: string | null }): Target => ({
  'node.owner': run.owner,
  'node.lessee': run.lessee ?? null,
  'run.tenant': run.tenant,
});

/** Target of a rule about a project's disruption budgets. */
export const disruptionTarget = (budget: { project: string | null }): Target => ({
  'disruption_budget.project': budget.project,
});

/** Target of a rule about a project's windows. */
export const windowTarget = (window: { project: string | null }): Target => ({
  'window.project': window.project,
});

/** What rules may know of a rollout's plan, and of the node in it that a request is about. */
export type RolloutFacts = {
  /** The smallest of these that is not less than its nodes. */
  readonly size: '1' | '10' | '100' | '1000' | 'more';
  /** Whether it erases data, and whether it interrupts power. */
  readonly erases: boolean;
  readonly power: boolean;
  /** Who uses its nodes: its own project alone, one other project, or several. */
  readonly projects: 'own' | 'one' | 'several';
  /** The project that uses the node that the request is about, where it is about one. */
  readonly tenant?: string | null;
};

/** Target of a rule about a rollout; `requester` is the user who planned it. */
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

/** Target of a rule about an allocation. */
export const allocationTarget = (allocation: { owner: string | null }): Target => ({
  'allocation.owner': allocation.owner,
});
