/** Types the lines of a table into the real command line client, and holds what comes of each against the table. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Said } from '../e2e/support/cli';
import { clientCommand } from '../support/clients';
import type { Line, Outcome } from './cli-groups-lines';

/** The client in one process, for a user of a clouds.yaml. */
export type Shell = { run(args: readonly string[]): Promise<Said>; end(): void };

export const startShell = (clouds: string, cloud: string): Shell => {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('OS_'));
  const env = { ...Object.fromEntries(own), OS_CLIENT_CONFIG_FILE: clouds, COLUMNS: '200' };
  const child: ChildProcess = spawn(clientCommand('python'), [join(__dirname, 'cli_groups.py')], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface(child.stdout!)[Symbol.asyncIterator]();
  return {
    async run(args) {
      child.stdin!.write(`${JSON.stringify(['--os-cloud', cloud, ...args])}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error(`the client ended at: ${args.join(' ')}`);
      return JSON.parse(value);
    },
    end: () => void child.kill(),
  };
};

type Bmc = {
  readonly address: string;
  readonly systemId: string;
  readonly username: string;
  readonly password: string;
  readonly macs: readonly string[];
};

/** What a walk works on: the prefix of its names, a BMC of the rack, a file for `create`, and how it waits for a node. */
export type Ground = {
  readonly prefix: string;
  readonly bmc: Bmc;
  readonly file: string;
  rests(node: string, state: string): Promise<void>;
};

/** Words as a shell reads them, single quotes alone being special. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ''));

const driverInfo = ({ address, systemId, username, password }: Bmc): string =>
  Object.entries({ address, system_id: systemId, username, password })
    .map(([key, value]) => `--driver-info redfish_${key}=${value}`)
    .join(' ');

const macOf = (index: string, { bmc }: Ground): string => `52:54:00:${bmc.macs[0]!.slice(-5)}:0${index}`;

/** A text with every `{name}` replaced; names that nothing was kept under stay, as braces of JSON do. */
const filled = (text: string, kept: ReadonlyMap<string, string>, ground: Ground): string =>
  text
    .replaceAll('{p}', ground.prefix)
    .replaceAll('{P}', ground.prefix.replace('-', '_').toUpperCase())
    .replaceAll('{file}', ground.file)
    .replace('{redfish}', driverInfo(ground.bmc))
    .replace(/\{mac:(\d)\}/g, (_, index) => macOf(index, ground))
    .replace(/\{([a-z]+)\}/g, (whole, name) => kept.get(name) ?? whole);

const isAsked = ({ shows, keep }: Outcome): boolean => shows !== undefined || keep !== undefined;

/** The UUID that a reply shows, or where a list came what names its first row. */
const nameOf = (shown: Record<string, string> | Record<string, string>[]): string => {
  const first = Array.isArray(shown) ? shown[0]! : shown;
  return (first.uuid ?? first.UUID ?? first['BIOS setting name'] ?? Object.values(first)[0])!;
};

const matches = (shown: unknown, wanted: NonNullable<Outcome['shows']>): void => {
  if ('is' in wanted) expect(shown).toEqual(wanted.is);
  else if ('has' in wanted) expect(shown).toMatchObject(wanted.has);
  else expect(shown).toEqual(expect.arrayContaining([expect.objectContaining(wanted.one)]));
};

/** Throws where a line came to something else than its outcome says. */
const judge = ({ status, out, err }: Said, outcome: Outcome): unknown => {
  if (outcome.refused) {
    if (status !== 1 || !err.includes(`(HTTP ${outcome.refused})`)) throw new Error(`${status}: ${out}${err}`);
    return undefined;
  }
  if (outcome.unknown) {
    if (status !== 2 || !err.includes('usage')) throw new Error(`${status}: ${out}${err}`);
    return undefined;
  }
  if (status !== 0) throw new Error(`${status}: ${err}`);
  if (!isAsked(outcome)) return undefined;
  const shown = JSON.parse(out);
  if (outcome.shows) matches(shown, outcome.shows);
  return shown;
};

/** @returns lines that came to something else than the table says, those that succeeded, and how long all took */
export const walkLines = async (shell: Shell, lines: readonly Line[], ground: Ground) => {
  const kept = new Map<string, string>();
  const differing: string[] = [];
  const succeeded: string[] = [];
  const started = Date.now();
  const worker = await shell.run(['conductor', 'list', '-f', 'json']);
  if (worker.status !== 0) throw new Error(worker.err);
  kept.set('worker', JSON.parse(worker.out)[0].hostname);
  for (const [types, told = {}] of lines) {
    const line = filled(types, kept, ground);
    const outcome: Outcome = JSON.parse(filled(JSON.stringify(told), kept, ground));
    const said = await shell.run([...wordsOf(line), ...(isAsked(outcome) ? ['-f', 'json'] : [])]);
    try {
      const shown = judge(said, outcome);
      if (outcome.keep) kept.set(outcome.keep, nameOf(shown as Record<string, string>));
      if (outcome.rests) await ground.rests(...outcome.rests);
      if (!outcome.refused && !outcome.unknown) succeeded.push(line);
    } catch (failure) {
      differing.push(`${line}: ${(failure as Error).message.slice(0, 600)}`);
    }
  }
  return { differing, succeeded, told: `${lines.length} commands, ${((Date.now() - started) / 1_000).toFixed(1)} s` };
};
