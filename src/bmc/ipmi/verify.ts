/** Looks of verify and power sync. */
import type { ActOutcome } from '../../model/runs/runs';
import type { Client } from './client';
import { lookAtPower, powerStateOf } from './power';

export type Maker = { readonly id: number | undefined; readonly name: string | undefined };

const field = (text: string, name: string): string | undefined =>
  new RegExp(`^${name}\\s*: (.*)$`, 'm').exec(text)?.[1]?.trim();

/** ipmitool prints "unknown" if it has no name for the maker. */
const makerOf = (info: string): Maker => {
  const name = field(info, 'Manufacturer Name');
  const id = Number(field(info, 'Manufacturer ID'));
  return {
    id: Number.isInteger(id) ? id : undefined,
    name: name && !/^unknown/i.test(name) ? name.slice(0, 100) : undefined,
  };
};

export const lookAtMaker = async (client: Client): Promise<Maker> => makerOf(await client.read(['mc', 'info']));

/** IPMI reports no boot mode, secure boot or health, so their records stay. `only: 'power'` skips the maker. */
export const verify = async (client: Client, { only }: Readonly<Record<string, unknown>> = {}): Promise<ActOutcome> => {
  const power = await lookAtPower(client);
  if (only === 'power') return { is: 'done', seen: { power_state: powerStateOf(power) } };
  const { name } = await lookAtMaker(client);
  return { is: 'done', seen: { power_state: powerStateOf(power), ...(name === undefined ? {} : { vendor: name }) } };
};
