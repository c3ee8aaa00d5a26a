/** Power: on, off and soft off. */
import type { ActOutcome, RunObserved } from '../../model/runs/runs';
import { converge } from '../converge';
import { type Client, nonsense } from './client';

type Power = 'on' | 'off';
type PowerTargetRow = {
  readonly what: string;
  readonly wants: Power;
  readonly command: string;
  readonly soft: boolean;
};

export const powerActs = {
  power_on: { what: 'power on', wants: 'on', command: 'on', soft: false },
  power_off: { what: 'power off', wants: 'off', command: 'off', soft: false },
  soft_power_off: { what: 'soft power off', wants: 'off', command: 'soft', soft: true },
} as const satisfies Record<string, PowerTargetRow>;

const powerStates = { on: 'power on', off: 'power off' } as const satisfies Record<Power, RunObserved['power_state']>;
const powerStatus = ['power', 'status'];

/** Throws BmcServerError. */
export const lookAtPower = async (client: Client): Promise<Power> => {
  const text = await client.read(powerStatus);
  const [, found] = /^Chassis Power is (on|off)\s*$/.exec(text) ?? [];
  return (found as Power | undefined) ?? nonsense(client.facts, powerStatus);
};

export const powerStateOf = (power: Power): RunObserved['power_state'] => powerStates[power];

/** Some BMCs refuse a second power off, so nothing is sent if a look shows the goal. */
export const setPower = async (client: Client, row: PowerTargetRow): Promise<ActOutcome> => {
  const { timing } = client.context;
  const { state, sent } = await converge<Power>(client, {
    what: row.what,
    desired: { power: row.what },
    timeoutMs: row.soft ? timing.softPowerTimeoutMs : timing.powerTimeoutMs,
    look: () => lookAtPower(client),
    reached: (power) => power === row.wants,
    proof: 2,
    again: 'next attempt',
    endsInTime: row.soft,
    show: powerStateOf as (power: Power) => string,
    act: () => client.write(['power', row.command], row.what),
  });
  return {
    is: 'done',
    note: sent ? row.what : `already ${powerStates[row.wants]}`,
    seen: { power_state: powerStateOf(state) },
  };
};
