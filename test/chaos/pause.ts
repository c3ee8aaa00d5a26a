/** Processes that stand still for a while, with all that they have started, and go on as if nothing had been. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Pids by that of their parent. Linux: field 4 of /proc/<pid>/stat, counted after the command name. */
const childrenByParent = (): Map<number, number[]> => {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return children;
};

const withChildren = (pids: readonly number[]): number[] => {
  const children = childrenByParent();
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return pids.flatMap(below);
};

const signal = (pid: number, name: 'SIGSTOP' | 'SIGCONT'): void => {
  try {
    process.kill(pid, name);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'ESRCH') throw failure;
  }
};

const stopAll = (pids: readonly number[]): number[] => {
  // The parents first, so that none begins a child that is not seen.
  for (const pid of pids) signal(pid, 'SIGSTOP');
  const all = withChildren(pids);
  for (const pid of all) signal(pid, 'SIGSTOP');
  return all;
};

/**
 * Stops processes at once and lets them go on by itself after so many seconds; Postgres serves from processes of its own, which
 * are stopped as well. @returns resolves when they go on
 */
export const pauseAll = async (pids: readonly number[], seconds: number): Promise<void> => {
  const all = stopAll(pids);
  await sleep(seconds * 1_000);
  for (const pid of all.reverse()) signal(pid, 'SIGCONT');
};

const isStopped = (pid: number): boolean => {
  try {
    return /\) [TZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
};

/** Does work while processes and their children stand still. */
export const whileStopped = async (pids: readonly number[], work: () => void): Promise<void> => {
  const all = stopAll(pids);
  try {
    // A signal takes its moment.
    while (!all.every(isStopped)) await sleep(5);
    work();
  } finally {
    for (const pid of all.reverse()) signal(pid, 'SIGCONT');
  }
};
