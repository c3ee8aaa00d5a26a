/** Checks of a verb: the state, the arguments and the condition of the node. */

import type { NodeRow } from '../inventory/nodes/nodes';
import { invalidInput, raise } from '../model/errors';
import { interfaceOf } from '../model/lifecycle/drivers';
import { next, type ProvisionState } from '../model/lifecycle/states';
import { insteadOf, passesLock, type VerbRow } from '../model/lifecycle/verbs';
import { requireMinor } from '../model/resources/microversions';
import type { Checks } from './checks';
import type { ProvisionAsked, WantedVerb } from './request';

/** Request keys with steps. */
export const stepKeys = ['clean_steps', 'service_steps', 'deploy_steps'] as const;

// Abort became possible state by state; openstack/ironic:ironic/api/controllers/v1/node.py (provision).
const messageSince: readonly { readonly state: ProvisionState; readonly since: number }[] = [
  { state: 'inspect wait', since: 41 },
  { state: 'wait call-back', since: 110 },
];

/** The state after the verb. A held node is a conflict, unless the verb addresses its run or replaces a waiting one. */
export const reachable = (
  { verb, row }: WantedVerb,
  node: NodeRow,
  ident: string,
  checks: Checks,
): ProvisionState | undefined => {
  const to = next(node.provision_state, row.event);
  if (node.reservation !== null && !passesLock(row, node.provision_state))
    checks.try(() => raise('NodeLocked', { node: ident }));
  const { provision_state: state } = node;
  return checks.try(() => to ?? raise('InvalidState', { verb, node: ident, state, instead: insteadOf(verb, state) }));
};

/** Refuses unexpected and missing arguments. Throws InvalidInput, NotAcceptable. */
export const checkArguments = (
  { verb, row }: WantedVerb,
  { body, version }: ProvisionAsked,
  node: NodeRow,
  disableRamdisk: boolean | null,
) => {
  if (disableRamdisk !== null) {
    if (row.disableRamdiskSince === undefined) invalidInput('disable_ramdisk', `is not possible with ${verb}`);
    else requireMinor(version, row.disableRamdiskSince, 'disable_ramdisk');
  }
  for (const key of stepKeys) {
    if (body[key] === undefined) continue;
    if (row.stepsKey !== key) invalidInput(key, `is not possible with ${verb}`);
    if (row.stepsSince) requireMinor(version, row.stepsSince, key);
  }
  if (body.temper?.parameters !== undefined && body.runbook === undefined)
    invalidInput('temper.parameters', 'are those of a runbook; name one');
  if (body.rescue_password !== undefined && !row.rescuePassword)
    invalidInput('rescue_password', `is not possible with ${verb}`);
  if (row.rescuePassword && !body.rescue_password?.trim())
    invalidInput('rescue_password', 'is missing; it is the login to the rescue system, and must not be blank');
  const late = messageSince.find((one) => one.state === node.provision_state);
  if (row.does === 'message' && late) requireMinor(version, late.since, `${verb} in state "${late.state}"`);
};

/** @param way hint: the caller and the command that can end the maintenance. Throws NodeInMaintenance. */
export const checkMaintenance = ({ verb, row }: WantedVerb, node: NodeRow, ident: string, way: () => string): void => {
  if (row.maintenance === 'refused' && node.maintenance) raise('NodeInMaintenance', { verb, node: ident, way: way() });
};

const checkOffered = ({ needs }: VerbRow, node: NodeRow): void => {
  if (!needs || !interfaceOf(node, needs).startsWith('no-')) return;
  const what = `${needs} (the node's ${needs}_interface is ${interfaceOf(node, needs)})`;
  raise('DriverUnsupported', { driver: node.driver, what });
};

/** Throws DriverUnsupported, NodeInMaintenance, NodeRetired, NodeProtected. */
export const checkCondition = (
  want: WantedVerb,
  node: NodeRow,
  ident: string,
  way: () => string,
  checks: Checks,
): void => {
  const { row } = want;
  checks.try(() => checkOffered(row, node));
  checks.try(() => checkMaintenance(want, node, ident, way));
  if (row.retired === 'refused' && node.retired) checks.try(() => raise('NodeRetired', { node: ident }));
  if (row.protected === 'refused' && node.protected) checks.try(() => raise('NodeProtected', { node: ident }));
};
