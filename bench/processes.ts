/** What processes cost: memory of each, and processor time where the machine tells it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

type Entry = { readonly pid: number; readonly parent: number; readonly kib: number };

const entries = (): Entry[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, parent = 0, kib = 0]) => ({ pid, parent, kib }));

const family = (pid: number, all: readonly Entry[]): Entry[] =>
  all
    .filter((entry) => entry.pid === pid)
    .concat(all.filter((e) => e.parent === pid).flatMap((e) => family(e.pid, all)));

export type Memory = { readonly name: string; readonly processes: number; readonly mib: number };

/**
 * Resident memory of each process with its children, in MiB. Pages that several share (PostgreSQL's buffers) count in each
 * of them, so a group's figure is an upper bound.
 */
export const memoryOf = (processes: readonly { readonly name: string; readonly pid: number }[]): Memory[] => {
  const all = entries();
  return processes.map(({ name, pid }) => {
    const members = family(pid, all);
    return { name, processes: members.length, mib: members.reduce((sum, { kib }) => sum + kib, 0) / 1024 };
  });
};

// Fields after the name in brackets, counted from 0: utime is 11, stime is 12; in ticks of 10 ms (proc(5)).
const tickMs = 10;

/** Processor time a process has used, in ms; undefined where there is no /proc. */
export const cpuMs = (pid: number): number | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return undefined;
  }
};
