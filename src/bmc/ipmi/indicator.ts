/** Chassis light. IPMI does not distinguish steady and blinking light. */
import { raise } from '../../model/errors';
import type { ActOutcome } from '../../model/runs/runs';
import { converge } from '../converge';
import { type Client, nonsense } from './client';

/** `reported`: the BMC reports the state, which is optional. IPMI 2.0, Get Chassis Status, third byte. */
type Light = { readonly reported: boolean; readonly lit: boolean };

const question = ['raw', '0x00', '0x01'];

const readLight = async (client: Client): Promise<Light> => {
  const [, , misc] = await client.readBytes(question);
  if (misc === undefined) return nonsense(client.facts, question);
  return { reported: (misc & 0x40) !== 0, lit: (misc & 0x30) !== 0 };
};

/** IPMI has one light without a name. */
const components: readonly unknown[] = [undefined, 'chassis', 'system'];

export const setIndicator = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  if (!components.includes(args.component))
    raise('BmcUnsupported', client.facts({ what: `an indicator of ${args.component}` }));
  const lit = args.state !== 'off';
  const what = `set the indicator ${args.state}`;
  await converge<Light>(client, {
    what,
    desired: { lit },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look: () => readLight(client),
    reached: (now) => now.reported && now.lit === lit,
    act: () => client.write(['chassis', 'identify', lit ? 'force' : '0'], what),
    show: (now) => (now.reported ? (now.lit ? 'lit' : 'dark') : 'not told'),
    again: 'now',
    trusts: true,
  });
  return { is: 'done', note: what };
};
