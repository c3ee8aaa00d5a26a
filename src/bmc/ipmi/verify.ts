/** The look behind verify and power sync: power, and who made the BMC. */
import type { ActOutcome } from '../../model/runs/runs';
import type { Client } from './client';
import { lookAtPower, powerStateOf } from './power';

export type Maker = { readonly id: number | undefined; readonly name: string | undefined };

const field = (text: string, name: string): string | undefined =>
  new RegExp(`^${name}\\s*: (.*)$`, 'm').exec(text)?.[1]?.trim();

/** ipmitool calls a maker unknown when its list does not have it, or is not installed. */
const makerOf = (info: string): Maker => {
  const name = field(info, 'Manufacturer Name');
  const id = Number(field(info, 'Manufacturer ID'));
  return {
    id: Number.isInteger(id) ? id : undefined,
    name: name && !/^unknown/i.test(name) ? name.slice(0, 100) : undefined,
  };
};

export const lookAtMaker = async (client: Client): Promise<Maker> => makerOf(await client.read(['mc', 'info']));

/** IPMI does not report the boot mode in force, secure boot, or health in one word: what is recorded of them stays. With `only: 'power'` the maker is not asked for. */
export const verify = async (client: Client, { only }: Readonly<Record<string, unknown>> = {}): Promise<ActOutcome> => {
  const power = await lookAtPower(client);
  if (only === 'power') return { is: 'done', seen: { power_state: powerStateOf(power) } };
  const { name } = await lookAtMaker(client);
  return { is: 'done', seen: { power_state: powerStateOf(power), ...(name === undefined ? {} : { vendor: name }) } };
};
