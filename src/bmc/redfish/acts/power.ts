/** Power: on, off, and asking the system to shut itself down. */

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
  /** In order of preference; the first that the BMC accepts. */
  readonly resets: readonly string[];
  readonly soft: boolean;
};

export const powerActs = {
  power_on: { what: 'power on', wants: 'On', resets: ['On', 'ForceOn'], soft: false },
  power_off: { what: 'power off', wants: 'Off', resets: ['ForceOff'], soft: false },
  soft_power_off: { what: 'soft power off', wants: 'Off', resets: ['GracefulShutdown'], soft: true },
} as const satisfies Record<string, ResetRow>;

/** The wire knows two states and none: what is on its way counts as arrived there, everything else is not known. */
const folded: Readonly<Record<string, RunObserved['power_state']>> = {
  On: 'power on',
  PoweringOn: 'power on',
  Off: 'power off',
  PoweringOff: 'power off',
};

export const powerStateOf = (system: Pick<System, 'PowerState'>): RunObserved['power_state'] =>
  ownValue(folded, system.PowerState ?? '') ?? null;

/**
 * On and Off are at rest, and so is Paused; the rest moves, and so does a BMC that does not say (just after its own start).
 * A hard power off counts a shutdown as its own only if it announced one: another client's polite one may never end.
 */
const movingOf =
  (row: ResetRow) =>
  ({ PowerState }: System, announced: unknown): 'towards' | 'elsewhere' | undefined => {
    if (['On', 'Off', 'Paused'].includes(PowerState ?? '')) return undefined;
    const ours = row.wants === 'On' || row.soft || announced !== undefined;
    return PowerState === `Powering${row.wants}` && ours ? 'towards' : 'elsewhere';
  };

/** The reset type to send, or BmcUnsupported when the BMC lists what it accepts and none of ours is there. */
const resetType = async (client: Client, system: System, row: ResetRow): Promise<string> => {
  const allowed = await allowableValues(client, system.Actions?.['#ComputerSystem.Reset'], 'ResetType');
  const found = allowed ? row.resets.find((one) => allowed.includes(one)) : row.resets[0];
  return found ?? raise('BmcUnsupported', client.facts({ what: `${row.what} (${row.resets.join(' or ')})` }));
};

/** Two equal looks are asked for, because a BMC may flap or lag right after a change. */
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
