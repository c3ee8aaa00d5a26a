/** The words of one ipmitool call. Secrets are in none of them. */
import type { IpmiSettings } from './settings';

export type Call = {
  /** A literal IP address: ipmitool must not resolve a name a second time. */
  readonly address: string;
  readonly suite: number | undefined;
  /** How often a packet is sent before the BMC counts as silent. */
  readonly tries: number;
  /** Seconds between two of them; ipmitool takes whole ones. */
  readonly everySeconds: number;
  readonly words: readonly string[];
};

/** What ipmitool finds at descriptor 3. */
const passwordFile = '/dev/fd/3';

const option = (flag: string, value: string | number | undefined): string[] =>
  value === undefined ? [] : [flag, String(value)];

/**
 * `-v` makes ipmitool say why a login failed, which it otherwise keeps to itself. `-Y` reads the BMC's key from the standard
 * input: of the ways to give one it is the only one that takes any bytes and shows them to no other process.
 */
export const commandLine = (settings: IpmiSettings, call: Call): string[] => [
  '-v',
  ...['-I', settings.transport],
  ...['-H', call.address],
  ...['-p', String(settings.address.port)],
  ...['-L', settings.privilege],
  ...option('-U', settings.username),
  ...(settings.kgKey ? ['-Y'] : []),
  ...option('-C', call.suite),
  ...settings.bridge,
  ...['-R', String(call.tries), '-N', String(call.everySeconds)],
  ...['-f', passwordFile],
  ...call.words,
];
