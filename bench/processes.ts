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

/** In MiB. `shared_once` counts a page that several processes share once, in parts; null where the machine does not tell. */
export type Memory = {
  readonly name: string;
  readonly processes: number;
  readonly resident: number;
  readonly shared_once: number | null;
};

/** Memory of each process with its children. Resident counts PostgreSQL's buffers in every one of its processes. */
export const memoryOf = (processes: readonly { readonly name: string; readonly pid: number }[]): Memory[] => {
  const all = entries();
  return processes.map(({ name, pid }) => {
    const members = family(pid, all);
    const parts = members.map((member) => proportional(member.pid));
    return {
      name,
      processes: members.length,
      resident: members.reduce((sum, { kib }) => sum + kib, 0) / 1024,
      shared_once: parts.includes(undefined) ? null : parts.reduce<number>((sum, kib) => sum + kib!, 0) / 1024,
    };
  });
};

/** Proportional set size in KiB (proc(5)); undefined where there is none, or for a process of another user. */
const proportional = (pid: number): number | undefined => {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
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
