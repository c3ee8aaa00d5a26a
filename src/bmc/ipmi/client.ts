/** IPMI commands of one act to one BMC, through ipmitool. */

import { hideSecrets } from '../../model/access/secrets';
import { raise, TemperError } from '../../model/errors';
import type { ActContext, BmcNode } from '../contract';
import type { Sent } from '../converge';
import type { ReplyVerdict, Why } from './replies';
import { type IpmiSettings, ipmiSettings } from './settings';
import type { Tool } from './tool';

export type Client = {
  readonly node: BmcNode;
  readonly context: ActContext;
  readonly settings: IpmiSettings;
  facts(more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** Output of ipmitool. Throws an error of the list. */
  read(words: readonly string[]): Promise<string>;
  /** Answer to a raw request. Throws an error of the list. */
  readBytes(words: readonly string[]): Promise<Uint8Array>;
  /** Throws only if nothing was sent (CommandLate, BmcUnreachable, BmcAddressRefused, BmcAuthFailed ...), or on abort. */
  write(words: readonly string[], what: string): Promise<Sent & { readonly text?: string }>;
};

type Failed = Extract<ReplyVerdict, { is: 'failed' }>;

/** These reasons mean that no session was opened, so the command was not sent. */
const neverLeft: readonly Why[] = ['cipher', 'login', 'silent', 'full'];

const bytePattern = /^\s*[0-9a-f]{2}(?:\s+[0-9a-f]{2})*\s*$/i;

/** Throws DriverInfoInvalid. */
export const createIpmiClient = (node: BmcNode, context: ActContext, tool: Tool): Client => {
  const settings = ipmiSettings(node);
  const { password } = settings;
  const facts: Client['facts'] = (more) => ({ node: node.name ?? node.uuid, bmc: settings.address.label, ...more });
  const kgKey = node.driver_info.ipmi_hex_kg_key;
  const mask = (text: string): string => hideSecrets(text, [password, typeof kgKey === 'string' ? kgKey : undefined]);
  const errorOf = ({ code, reason }: Failed, what: string): TemperError =>
    new TemperError(code, facts({ what, status: 'IPMI', reason: mask(reason) }));

  const ask = (kind: 'read' | 'write', words: readonly string[]): Promise<ReplyVerdict> =>
    tool.ask({
      settings,
      kind,
      words,
      signal: context.signal,
      mayStillSend: context.mayStillSend,
      renew: context.intents.renew,
      node: node.name ?? node.uuid,
    });

  const read = async (words: readonly string[]): Promise<string> => {
    const verdict = await ask('read', words);
    if (verdict.is === 'failed') throw errorOf(verdict, words.join(' '));
    return verdict.text;
  };

  return {
    node,
    context,
    settings,
    facts,
    read,
    async readBytes(words) {
      const text = await read(words);
      if (!bytePattern.test(text)) return nonsense(facts, words);
      return Uint8Array.from(text.trim().split(/\s+/), (byte) => Number.parseInt(byte, 16));
    },
    async write(words, what) {
      const verdict = await ask('write', words);
      if (verdict.is === 'answered') return { is: 'accepted', text: verdict.text };
      const error = errorOf(verdict, what);
      if (neverLeft.includes(verdict.why)) throw error;
      if (verdict.why === 'lost') return { is: 'unknown', error };
      return { is: 'refused', error, transient: verdict.why === 'busy' };
    },
  };
};

/** Throws BmcServerError. */
export const nonsense = (facts: Client['facts'], words: readonly string[]): never =>
  raise('BmcServerError', facts({ status: 'nonsense', reason: `to ${words.join(' ')}`, what: words.join(' ') }));
