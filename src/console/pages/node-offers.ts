/** Acts on a node, each possible or refused with a reason: state, lock or an operator's setting. */
import { interfaceOf } from '../../model/lifecycle/drivers';
import { next, type PowerTarget, powerRefusedIn, powerTargets, states } from '../../model/lifecycle/states';
import { insteadOf, passesLock, type Verb, type VerbRow, verbRow } from '../../model/lifecycle/verbs';
import type { Freeze } from '../../wire/records';
import type { ListedRun } from '../../wire/runs';
import { hidden } from '../hidden';
import type { Offer } from '../parts/acts';
import type { NodeView } from '../views';

export const provisionRule = 'baremetal:node:set_provision_state';
const powerRule = 'baremetal:node:set_power_state';
export const runbookRule = 'temper:node:run_runbook';
export const maintenanceRules = {
  on: 'baremetal:node:set_maintenance',
  off: 'baremetal:node:clear_maintenance',
} as const;
const freezeRule = 'temper:freeze:create';

export const nodeRules = [provisionRule, powerRule, runbookRule, maintenanceRules.on, maintenanceRules.off, freezeRule];

/** Rules of the acts that help a node out of trouble. */
export const troubleRules = [provisionRule, maintenanceRules.off, freezeRule];

// Verbs with further input (steps, a password, an image) have other forms.
const offered = ['manage', 'inspect', 'provide', 'adopt', 'abort', 'undeploy', 'unrescue', 'unhold'] as const satisfies readonly Verb[]; // biome-ignore format: one row of names
export type OfferedVerb = (typeof offered)[number];

export type NodeStanding = {
  readonly node: NodeView;
  /** Holder of the lock in words; undefined without a lock. */
  readonly holder: string | undefined;
  readonly freezes?: readonly Freeze[];
};

const working: readonly string[] = ['transient', 'hold'];

/**
 * If the API hides the lock, the caller's own runs and a working state reveal its holder.
 * @param runs of the node, as far as the caller sees them
 */
export const holderOf = (node: NodeView, runs: readonly ListedRun[]): string | undefined => {
  if (node.reservation !== hidden) return node.reservation ? `run ${node.reservation}` : undefined;
  const run = runs.find(({ finished_at }) => finished_at === null);
  if (run) return `run ${run.uuid}`;
  return working.includes(states[node.provision_state].kind) ? 'a run' : undefined;
};

const heldBy = (holder: string | undefined): string | undefined => holder && `The node is locked by ${holder}.`;

const interfaceSays = (node: NodeView, { needs }: VerbRow): string | undefined =>
  needs && interfaceOf({ ...node, driver: node.driver ?? '' }, needs).startsWith('no-')
    ? `The node has no ${needs} interface.`
    : undefined;

const conditionSays = (node: NodeView, row: VerbRow): string | undefined => {
  const to = next(node.provision_state, row.event);
  // A verb that moves the node to a stable state at once is refused in maintenance; one for its run is not.
  const moves = row.does === 'message' && to !== undefined && states[to].kind === 'stable';
  if ((row.maintenance === 'refused' || moves) && node.maintenance) return 'The node is in maintenance.';
  if (row.protected === 'refused' && node.protected) return 'The node is protected.';
  if (row.retired === 'refused' && node.retired) return 'The node is retired.';
  return undefined;
};

/** Returns undefined if the node accepts the verb now. */
export const verbStateSays = (verb: Verb, { node, holder }: NodeStanding): string | undefined => {
  const row = verbRow(verb);
  const { provision_state: from } = node;
  if (next(from, row.event) === undefined)
    return `Not possible while the node is ${from}. ${insteadOf(verb, from) ?? ''}`.trim();
  return interfaceSays(node, row) ?? conditionSays(node, row) ?? (passesLock(row, from) ? undefined : heldBy(holder));
};

/** Returns undefined if the node accepts a rerun now. */
export const rerunStateSays = (verb: Verb, standing: NodeStanding): string | undefined =>
  heldBy(standing.holder) ?? verbStateSays(verb, standing);

export const verbLabels: Readonly<Record<OfferedVerb, string>> = {
  manage: 'Manage', inspect: 'Inspect', provide: 'Make available', adopt: 'Adopt', abort: 'Abort',
  undeploy: 'Tear down', unrescue: 'End rescue', unhold: 'Release hold',
}; // biome-ignore format: one table

const powerLabels: Readonly<Record<PowerTarget, string>> = {
  'power on': 'Power on', 'power off': 'Power off', rebooting: 'Reboot', 'soft power off': 'Shut down', 'soft rebooting': 'Restart gracefully',
}; // biome-ignore format: one table

const verbOffer = (verb: OfferedVerb, standing: NodeStanding): Offer => {
  const { provision_state: from } = standing.node;
  const { event, does } = verbRow(verb);
  return {
    name: verb,
    label: verbLabels[verb],
    verb,
    rule: provisionRule,
    stateSays: verbStateSays(verb, standing),
    will: `Moves the node from ${from} to ${next(from, event) ?? 'another state'}${does === 'run' ? ' in a run' : ''}.`,
    danger: verb === 'undeploy' || verb === 'abort',
    withoutReason: true,
    fields: { what: 'verb', verb },
  };
};

const powerSays = (target: PowerTarget, { node, holder, freezes = [] }: NodeStanding): string | undefined => {
  if (powerRefusedIn.includes(node.provision_state))
    return `A run controls the power while the node is ${node.provision_state}.`;
  if (node.disable_power_off && powerTargets[target].ends === 'power off')
    return 'Power off is disabled for this node (disable_power_off).';
  return freezes.length > 0 ? 'The node is frozen.' : heldBy(holder);
};

const powerName = (target: string): string => target.replaceAll(' ', '-');

/** Names of the offers that change the power. */
export const powerNames = Object.keys(powerTargets).map(powerName);

const powerOffer = (target: PowerTarget, standing: NodeStanding): Offer => ({
  name: powerName(target),
  label: powerLabels[target],
  verb: target,
  rule: powerRule,
  stateSays: powerSays(target, standing),
  will: `Starts a run: ${target}. Power is ${standing.node.power_state?.replace('power ', '') ?? 'unknown'} now.`,
  danger: target.includes('off'),
  withoutReason: true,
  fields: { what: 'power', target },
});

const maintenanceOffer = (node: NodeView): Offer =>
  node.maintenance
    ? {
        name: 'leave-maintenance',
        label: 'Leave maintenance',
        rule: maintenanceRules.off,
        will: 'Workers check the node again, and it accepts actions.',
        withoutReason: true,
        fields: { what: 'maintenance-off' },
      }
    : {
        name: 'maintenance',
        label: 'Set maintenance',
        rule: maintenanceRules.on,
        will: 'Workers leave the node alone, and most actions are refused until maintenance ends.',
        minor: true,
        fields: { what: 'maintenance-on' },
      };

const freezeOffer = ({ freezes = [] }: NodeStanding): Offer => ({
  name: 'freeze',
  label: 'Freeze',
  rule: freezeRule,
  stateSays: freezes.length > 0 ? 'The node is already frozen.' : undefined,
  will: 'No writes to the node’s BMC until the freeze ends. Runs wait.',
  danger: true,
  fields: { what: 'freeze' },
});

export const nodeOffers = (standing: NodeStanding): Offer[] => [
  ...offered.map((verb) => verbOffer(verb, standing)),
  ...(Object.keys(powerTargets) as PowerTarget[]).map((target) => powerOffer(target, standing)),
  maintenanceOffer(standing.node),
  freezeOffer(standing),
];
