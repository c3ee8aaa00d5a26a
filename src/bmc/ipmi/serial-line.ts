/** Serial line by ipmitool's serial over LAN. */
import { type ChildProcess, spawn } from 'node:child_process';
import { raise } from '../../model/errors';
import type { BmcNode, DriverDeps, SerialLine } from '../contract';
import { findAddress } from './address';
import { commandLine } from './command';
import { env, killGroup, programMissing, runProgram } from './program';
import { withSecretFile } from './secret-file';
import { type IpmiSettings, ipmiSettings } from './settings';

/** At the start of a line it makes ipmitool end, suspend or send a break, so it is removed from the input. */
const escapeByte = 0x1e;
const answerMs = 20_000;

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export const commandOf = (words: readonly string[]): string => `exec ${words.map(quoted).join(' ')}`;

/** ipmitool needs a terminal (`tcgetattr`). script(1) of util-linux provides one; stty makes it pass bytes unchanged. */
const underTerminal = (words: readonly string[]): string[] => [
  ...['--quiet', '--flush', '--return', '--log-out', '/dev/null'],
  ...['--command', `stty raw -echo; ${commandOf(words)}`],
];

/** Throws DriverInfoInvalid. */
const settingsFor = (node: BmcNode): IpmiSettings => {
  const settings = ipmiSettings(node);
  const refuse = (field: string, reason: string) =>
    raise('DriverInfoInvalid', { node: node.name ?? node.uuid, field, reason });
  if (settings.transport !== 'lanplus') refuse('ipmi_protocol_version', 'has to be 2.0 for a console');
  if (settings.kgKey) refuse('ipmi_hex_kg_key', 'cannot be used with a console');
  return settings;
};

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((done, fail) => {
    child.on('error', (failure) => fail(raised(failure))).on('close', () => done());
  });

const raised = (cause: Error): unknown => {
  try {
    return programMissing('script', cause);
  } catch (thrown) {
    return thrown;
  }
};

/**
 * A BMC has only one line, so one left open is closed first. Throws DriverInfoInvalid, BmcAddressRefused, BmcUnreachable,
 * ProgramMissing.
 */
export const openSerialLine = async (node: BmcNode, deps: DriverDeps): Promise<SerialLine> => {
  const settings = settingsFor(node);
  const facts = { node: node.name ?? node.uuid, bmc: settings.address.label };
  const address = await findAddress(deps, settings.address.host);
  if (address === undefined) return raise('BmcUnreachable', { ...facts, reason: 'its name does not resolve' });
  const program = deps.ipmitool ?? 'ipmitool';
  const argsOf = (words: readonly string[]) =>
    commandLine(settings, { address, suite: settings.cipherSuite, tries: 3, everySeconds: 2, words });
  const deactivate = () =>
    withSecretFile(settings.password, async (descriptor) => {
      const signal = new AbortController().signal;
      const args = argsOf(['sol', 'deactivate']);
      await runProgram({ program, args, input: undefined, descriptor, limitMs: answerMs, signal });
    });
  await deactivate();
  const options = ['-e', String.fromCharCode(escapeByte)];
  // Without `-v`, which prints into the output.
  const words = [program, ...options, ...argsOf(['sol', 'activate']).slice(1)];
  const child = await withSecretFile(settings.password, async (descriptor) =>
    spawn('script', underTerminal(words), {
      cwd: '/',
      env: { ...env, SHELL: '/bin/sh', TERM: 'dumb' },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', descriptor],
    }),
  );
  child.stderr?.resume();
  child.stdin?.on('error', () => undefined);
  const end = ended(child);
  let closing: Promise<void> | undefined;
  const close = async () => {
    killGroup(child);
    await end.catch(() => undefined);
    await deactivate().catch(() => undefined);
  };
  return {
    output: child.stdout!,
    ended: end,
    write: (bytes) => child.stdin?.write(bytes.filter((byte) => byte !== escapeByte)) ?? false,
    drained: (resume) => void child.stdin?.once('drain', resume),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
};
