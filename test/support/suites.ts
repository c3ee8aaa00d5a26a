/** Test suites that others wrote, in Python, run as they are against a system of ours: what became of each of their tests. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { foundBy } from './found';

const reader = resolve(__dirname, '..', 'clients', 'suite_verdicts.py');

const found = foundBy<{ bin: string }>('suites.js');

/** Why the suites could not be had; undefined when they are there. */
export const suitesMissing = found.missing;

/** Throws where they are missing. */
const command = (name: string): string => {
  if (!found.bin) throw new Error(`The suites are not there: ${found.missing}`);
  return join(found.bin, name);
};

type Verdict = {
  readonly status: 'success' | 'skip' | 'fail' | 'xfail' | 'uxsuccess';
  /** The end of a traceback, or the reason of a skip. */
  readonly says: string;
};

/** By name, without what all names of a suite begin with and without the id that some end in. */
export type Verdicts = ReadonlyMap<string, Verdict>;

export type Suite = {
  /** The Python package whose tests are run, such as `openstack.tests.functional.baremetal.v1`. */
  readonly tests: string;
  /** An empty folder for it to work in. */
  readonly folder: string;
  /** Beside PATH and HOME. */
  readonly env: Readonly<Record<string, string>>;
  /** Tests at a time. */
  readonly concurrency: number;
  /** A regular expression for names; all where it is absent. */
  readonly only?: string;
};

/** Environments are ended with the test that started them. */
const running = new Set<ChildProcess>();
export const endSuites = (): void => {
  for (const child of running) process.kill(-child.pid!, 'SIGKILL');
};

const ended = async (child: ChildProcess): Promise<number | null> => {
  running.add(child);
  const [status] = (await once(child, 'close')) as [number | null];
  running.delete(child);
  return status;
};

/** Runs all tests of a suite and reads what became of them. Throws when it ended without having run any. */
export const runSuite = async (suite: Suite): Promise<Verdicts> => {
  mkdirSync(suite.folder, { recursive: true });
  configure(suite);
  const { PATH = '', HOME = suite.folder } = process.env;
  const env = { PATH: `${dirname(command('python'))}:${PATH}`, HOME, ...suite.env };
  const stream = join(suite.folder, 'stream');
  const log = join(suite.folder, 'log');
  const [out, err] = [openSync(stream, 'w'), openSync(log, 'w')];
  const start = (args: readonly string[]) =>
    spawn(command('stestr'), args, { cwd: suite.folder, env, stdio: ['ignore', out, err], detached: true });
  await ended(start(['init']));
  await ended(start(['run', '--subunit', '--concurrency', String(suite.concurrency), suite.only ?? suite.tests]));
  closeSync(out);
  closeSync(err);
  const verdicts = verdictsIn(stream, suite);
  if (verdicts.size === 0) throw new Error(`${suite.tests} ran no test:\n${readFileSync(log, 'utf8').slice(-4_000)}`);
  return verdicts;
};

/** Tests of one class run in one process: what a class sets up is made once. */
const configure = ({ folder, tests }: Suite): void => {
  const installed = spawnSync(command('python'), ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], {
    encoding: 'utf8',
  }).stdout.trim();
  const settings = {
    test_path: join(installed, ...tests.split('.')),
    top_dir: installed,
    group_regex: '([^\\.]*\\.)*',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  writeFileSync(join(folder, '.stestr.conf'), ['[DEFAULT]', ...lines, ''].join('\n'));
};

const verdictsIn = (stream: string, { tests }: Suite): Verdicts => {
  const { stdout, stderr } = spawnSync(command('python'), [reader], {
    input: readFileSync(stream),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (!stdout) throw new Error(`The suite's verdicts cannot be read:\n${stderr}`);
  const plain = (name: string) => name.replace(`${tests}.`, '').replace(/\[.*\]$/, '');
  return new Map(
    Object.entries(JSON.parse(stdout) as Record<string, Verdict>).map(([name, one]) => [plain(name), one]),
  );
};

/** Names of the tests that ended so, sorted. */
export const namesOf = (verdicts: Verdicts, ...statuses: readonly Verdict['status'][]): string[] =>
  [...verdicts]
    .filter(([, { status }]) => statuses.includes(status))
    .map(([name]) => name)
    .sort();

/** What the tests that are not on the list said as they failed. */
export const unexpected = (verdicts: Verdicts, expected: Readonly<Record<string, string>>): string =>
  [...verdicts]
    .filter(([name, { status }]) => status === 'fail' && !(name in expected))
    .map(([name, { says }]) => `${name}:\n${says}`)
    .join('\n\n');

/** How many requests an API has answered, by its own metrics. */
export const callsAnswered = async (healthUrl: string): Promise<number> => {
  const text = await (await fetch(`${healthUrl}/metrics`)).text();
  const counts = [...text.matchAll(/^temper_api_request_seconds_count\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
};

/** One line for readers of the run's output. */
export const summary = (name: string, verdicts: Verdicts, calls: number, ms: number): string => {
  const skipped = namesOf(verdicts, 'skip').length;
  const passed = namesOf(verdicts, 'success', 'xfail').length;
  return `${name}: ${passed} of ${verdicts.size - skipped} pass, ${skipped} skipped, ${calls} calls, ${Math.round(ms / 1_000)} s`;
};
