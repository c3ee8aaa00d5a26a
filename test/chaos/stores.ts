/** The files of a system's two stores: copied while their server stands still, lost, and put back while it is held away. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readSystem } from '../../demo/system';
import type { Store } from './blows';
import { whileStopped } from './pause';
import { until } from './until';

const pidIn = (file: string, name: string): number => {
  const found = readSystem(file).processes.find((process) => process.name === name);
  if (!found) throw new Error(`no process ${name} in ${file}`);
  return found.pid;
};

const runs = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
};

const wordAfter = (pid: number, flag: string): string => {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const at = words.indexOf(flag);
  if (at < 0 || !words[at + 1]) throw new Error(`process ${pid} was started without ${flag}`);
  return words[at + 1]!;
};

/** Folder that holds all of a store, and nothing else. */
const folderOf = (file: string, store: Store): string => {
  const pid = pidIn(file, store);
  return store === 'postgres' ? wordAfter(pid, '-D') : dirname(wordAfter(pid, '--db-filename'));
};

const copy = (from: string, to: string): void => {
  rmSync(to, { recursive: true, force: true });
  execFileSync('cp', ['-a', from, to]);
};

/** What chaos, as an operator with a shell, does to the processes and the stores of one system. */
export const storesOf = (file: string) => {
  const hold = join(dirname(file), 'hold');
  const heldAt = (name: string): string => join(hold, name);
  return {
    /** Ends processes by a signal and keeps them from being started again. @returns when they are gone */
    async stop(names: readonly string[], signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
      mkdirSync(hold, { recursive: true });
      const pids = names.map((name) => pidIn(file, name));
      for (const name of names) writeFileSync(heldAt(name), '');
      for (const pid of pids.filter(runs)) process.kill(pid, signal);
      await until(`${names.join(', ')} to end`, async () => !pids.some(runs), { everyMs: 50 });
    },

    /** Lets processes be started again. @returns when the supervisor has done so */
    async start(names: readonly string[]): Promise<void> {
      const before = names.map((name) => pidIn(file, name));
      for (const name of names) rmSync(heldAt(name), { force: true });
      await until(`${names.join(', ')} to run again`, async () =>
        names.every((name, at) => pidIn(file, name) !== before[at]),
      );
    },

    /**
     * A copy of all files of a store at one moment, as a snapshot of its disk would be. @returns what puts the copy in the place of
     * what is there then; its server must not run
     */
    async backUp(store: Store): Promise<() => void> {
      const folder = folderOf(file, store);
      const kept = join(mkdtempSync(join(tmpdir(), 'chaos-backup-')), store);
      await whileStopped([pidIn(file, store)], () => copy(folder, kept));
      return () => {
        copy(kept, folder);
        rmSync(join(folder, 'postmaster.pid'), { force: true });
        rmSync(dirname(kept), { recursive: true });
      };
    },

    /** Where a store lies; to be asked while its server runs. */
    folderOf: (store: Store): string => folderOf(file, store),

    /** Names of the workers of a kind that run, `worker-bmc` or `worker-control`. */
    workers: (kind: string): string[] =>
      readSystem(file)
        .processes.map(({ name }) => name)
        .filter((name) => name.startsWith(kind)),

    isHeld: (name: string): boolean => existsSync(heldAt(name)),
  };
};
export type Stores = ReturnType<typeof storesOf>;
