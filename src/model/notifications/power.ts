/** Ironic's notifications about a node's power. openstack/ironic:ironic/conductor/utils.py node_power_action. */
import type { Document } from '../document';
import { type PowerTarget, powerTargets } from '../lifecycle/states';
import type { Notice, NoticedEvent } from './notice';

const isTarget = (text: unknown): text is PowerTarget => typeof text === 'string' && Object.hasOwn(powerTargets, text);

const conductor = { service: 'ironic-conductor', level: 'info' } as const;

const setNotice = (status: 'start' | 'end', to_power: unknown, values: Document = {}): Notice => ({
  ...conductor,
  type: `node.power_set.${status}`,
  payload: 'nodePower',
  values: { target_power_state: null, ...values, to_power },
});

const failedNotice = (to_power: string, last_error: unknown): Notice => ({
  ...setNotice('end', to_power, { last_error }),
  type: 'node.power_set.error',
  level: 'error',
});

const correctedNotice = (from_power: unknown, power_state: unknown): Notice => ({
  ...conductor,
  type: 'node.power_state_corrected.success',
  payload: 'nodePowerCorrected',
  values: { from_power, power_state },
});

/** A request for power was accepted. */
export const startedPower = ({ kind, data }: NoticedEvent): Notice[] =>
  kind === 'run.accepted' && isTarget(data.target)
    ? [setNotice('start', data.target, { target_power_state: powerTargets[data.target].ends })]
    : [];

const endedPower = (target: PowerTarget, { kind, data }: NoticedEvent): Notice[] => {
  if (kind === 'run.succeeded')
    return [setNotice('end', target, { power_state: powerTargets[target].ends, last_error: null })];
  return kind === 'run.failed' || kind === 'run.aborted' ? [failedNotice(target, data.error ?? null)] : [];
};

// Acts that only read a BMC have other names.
const switches = (act: unknown): boolean => typeof act === 'string' && /power_(on|off)$/.test(act);

/** An act changed the recorded power: by a command, or because it read another one. */
const changedByAct = ({ act, power_state }: Document): Notice[] => {
  if (!switches(act)) return [correctedNotice(null, power_state)];
  return [setNotice('start', power_state), setNotice('end', power_state, { power_state })];
};

export const powerNotices = (event: NoticedEvent): Notice[] => {
  const { kind, data, power } = event;
  if (kind === 'node.power') return [correctedNotice(data.from ?? null, data.to)];
  if (isTarget(power)) return endedPower(power, event);
  const changed = (kind === 'step.done' || kind === 'act.done') && data.power_state !== undefined;
  return changed ? changedByAct(data) : [];
};
