/** The `temper` command on terminal, network, files and environment. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Agent, fetch as fetchOfUndici } from 'undici';
import { type CliDeps, CliFault, runCli, safeLines, stop, type Trust } from '../../cli';
import { fileFault, fileReason } from '../../model/file-faults';

// Shells report termination by a signal as 128 plus its number.
const interrupted = 130;

const readFile = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    return stop('usage', `${path} could not be read${fileReason(thrown)}.`);
  }
};

const writeFile = (path: string, text: string): void => {
  try {
    writeFileSync(path, text);
  } catch (thrown) {
    stop('usage', `${path} could not be written${fileReason(thrown)}.`);
  }
};

/** A killed command leaves the earlier file, never half of one. */
const keepSecret = (path: string, text: string): void => {
  const part = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(part, { force: true });
    writeFileSync(part, text, { mode: 0o600, flag: 'wx' });
    renameSync(part, path);
  } catch (thrown) {
    stop('usage', `${path} could not be written${fileReason(thrown)}.`);
  }
};

const filesIn = (path: string): string[] | undefined => {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map(({ name }) => name);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return stop('usage', `${path} could not be read${fileReason(thrown)}.`);
  }
};

const fetchWith = ({ caFile, insecure }: Trust): typeof fetch => {
  if (!caFile && !insecure) return fetch;
  const ca = caFile && (readFile(caFile) ?? stop('usage', `There is no ${caFile}, which is to say whom to trust.`));
  const dispatcher = new Agent({ connect: { ...(ca && { ca }), ...(insecure && { rejectUnauthorized: false }) } });
  // Node's fetch accepts only agents of its bundled undici.
  const fetchBy = fetchOfUndici as unknown as (input: Parameters<typeof fetch>[0], init: object) => Promise<Response>;
  return (input, init) => fetchBy(input, { ...init, dispatcher });
};

const confirm = async (question: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
};

/** After EPIPE the reader has the lines it needs. After other errors the output is lost. */
const endOfOutput = (thrown: NodeJS.ErrnoException): never => {
  if (thrown.code === 'EPIPE') return process.exit(0);
  process.stderr.write(`temper: what it prints cannot be written${fileReason(thrown)}.\n`);
  return process.exit(1);
};

/** A user without an account entry has no home, and `/` has no clouds.yaml. */
const homeOf = (): string => {
  try {
    return homedir();
  } catch {
    return '/';
  }
};

/** Parts in which the full command and the client package differ. */
type OwnParts = Pick<CliDeps, 'version' | 'installation'>;

const errorText = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);

const main = async (own: OwnParts): Promise<number> => {
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  process.once('SIGTERM', () => ending.abort());
  process.stdout.on('error', endOfOutput);
  const deps: CliDeps = {
    ...own,
    env: process.env,
    fetchWith,
    readFile,
    writeFile,
    keepSecret,
    removeFile: (path) => rmSync(path, { force: true }),
    filesIn,
    home: homeOf(),
    out: (text) => void process.stdout.write(text),
    ...(process.stdout.isTTY && { terminal: process.stdout }),
    err: (text) => void process.stderr.write(text),
    get keyboard() {
      return process.stdin;
    },
    screen: process.stdout,
    ...(process.stdin.isTTY && { confirm }),
    signal: ending.signal,
  };
  const status = await runCli(process.argv.slice(2), deps);
  return ending.signal.aborted ? interrupted : status;
};

/** The process ends with the command's exit status. */
export const runAtTerminal = async (own: OwnParts): Promise<void> => {
  try {
    process.exitCode = await main(own);
  } catch (thrown) {
    const text = thrown instanceof CliFault ? thrown.message : (fileFault(thrown) ?? errorText(thrown));
    process.stderr.write(safeLines(`temper: ${text}\n`));
    process.exitCode = 1;
  }
};
