/** Arguments of one ipmitool call, without secrets. */
import type { IpmiSettings } from './settings';

export type Call = {
  /** Literal, as ipmitool must not resolve a name a second time. */
  readonly address: string;
  readonly suite: number | undefined;
  /** Number of times a packet is sent before the BMC counts as silent. */
  readonly tries: number;
  /** Between two tries; ipmitool takes whole seconds. */
  readonly everySeconds: number;
  readonly words: readonly string[];
};

/** Descriptor 3 of the program. */
const passwordFile = '/dev/fd/3';

const option = (flag: string, value: string | number | undefined): string[] =>
  value === undefined ? [] : [flag, String(value)];

/**
 * Only with `-v` does ipmitool print why a login failed. Only `-Y`, on the standard input, takes a key with any bytes and hides it
 * from other processes.
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
