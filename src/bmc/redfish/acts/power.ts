/** Power: on, off and soft off. */

import { raise } from '../../../model/errors';
import { ownValue } from '../../../model/own';
import type { ActOutcome, RunObserved } from '../../../model/runs/runs';
import { converge } from '../../converge';
import { allowableValues, findSystem } from '../discovery/discovery';
import type { System } from '../discovery/resources';
import type { Client } from '../transport/client';

type ResetRow = {
  readonly what: string;
  readonly wants: 'On' | 'Off';
  /** Reset types in order of preference. */
  readonly resets: readonly string[];
  readonly soft: boolean;
};

export const powerActs = {
  power_on: { what: 'power on', wants: 'On', resets: ['On', 'ForceOn'], soft: false },
  power_off: { what: 'power off', wants: 'Off', resets: ['ForceOff'], soft: false },
  soft_power_off: { what: 'soft power off', wants: 'Off', resets: ['GracefulShutdown'], soft: true },
} as const satisfies Record<string, ResetRow>;

/** A transition counts as its target state. */
const folded: Readonly<Record<string, RunObserved['power_state']>> = {
  On: 'power on',
  PoweringOn: 'power on',
  Off: 'power off',
  PoweringOff: 'power off',
};

export const powerStateOf = (system: Pick<System, 'PowerState'>): RunObserved['power_state'] =>
  ownValue(folded, system.PowerState ?? '') ?? null;

/**
 * A missing state means movement (just after the BMC's start). A hard power off counts a shutdown as its own only with an intent:
 * another client's graceful shutdown may never end.
 */
const movingOf =
  (row: ResetRow) =>
  ({ PowerState }: System, announced: unknown): 'towards' | 'elsewhere' | undefined => {
    if (['On', 'Off', 'Paused'].includes(PowerState ?? '')) return undefined;
    const ours = row.wants === 'On' || row.soft || announced !== undefined;
    return PowerState === `Powering${row.wants}` && ours ? 'towards' : 'elsewhere';
  };

/** Throws BmcUnsupported. */
const resetType = async (client: Client, system: System, row: ResetRow): Promise<string> => {
  const allowed = await allowableValues(client, system.Actions?.['#ComputerSystem.Reset'], 'ResetType');
  const found = allowed ? row.resets.find((one) => allowed.includes(one)) : row.resets[0];
  return found ?? raise('BmcUnsupported', client.facts({ what: `${row.what} (${row.resets.join(' or ')})` }));
};

/** A BMC may flap or lag after a change, so two equal looks are proof. */
export const setPower = async (client: Client, row: ResetRow): Promise<ActOutcome> => {
  const { timing } = client.context;
  const at = await findSystem(client);
  const { state, sent } = await converge<System>(client, {
    what: row.what,
    desired: { power: row.what, system: at.path },
    timeoutMs: row.soft ? timing.softPowerTimeoutMs : timing.powerTimeoutMs,
    look: async () => (await at.look()).value,
    reached: (system) => system.PowerState === row.wants,
    moving: movingOf(row),
    proof: 2,
    again: 'next attempt',
    endsInTime: row.soft,
    show: (system) => system.PowerState ?? 'no power state',
    act: async (system) => {
      const target = system.Actions?.['#ComputerSystem.Reset']?.target;
      if (target === undefined) return raise('BmcUnsupported', client.facts({ what: 'ComputerSystem.Reset' }));
      return client.post(target, { ResetType: await resetType(client, system, row) }, row.what);
    },
  });
  return {
    is: 'done',
    note: sent ? row.what : `already ${folded[row.wants]}`,
    seen: { power_state: powerStateOf(state) },
  };
};
