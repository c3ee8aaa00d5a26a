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
// cutime and cstime, of children that have ended, are the two after them.
const tickMs = 10;

const ticks = (pid: number, first: number): number | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[first]) + Number(fields[first + 1])) * tickMs;
  } catch {
    return undefined;
  }
};

/** Processor time a process has used, in ms; undefined where there is no /proc. */
export const cpuMs = (pid: number): number | undefined => ticks(pid, 11);

/** Processor time, in ms, of children of a process that have ended. */
const endedMs = (pid: number): number => ticks(pid, 13) ?? 0;

/** Names of processes that belong together in a table; `worker-bmc-default` and the like are one. */
const groupOf = (name: string): string => (name.startsWith('worker-bmc') ? 'worker-bmc' : name);

/** Processor time used so far in ms by each group of processes, children included; children that have ended count too. */
export const cpuByGroup = (
  processes: readonly { readonly name: string; readonly pid: number }[],
): ReadonlyMap<string, number> => {
  const all = entries();
  const sums = new Map<string, number>();
  for (const { name, pid } of processes) {
    const used = family(pid, all).reduce((sum, member) => sum + (cpuMs(member.pid) ?? 0), endedMs(pid));
    sums.set(groupOf(name), (sums.get(groupOf(name)) ?? 0) + used);
  }
  return sums;
};

/** What each group has used since an earlier count, in ms; empty where the machine does not tell. */
export const cpuSince = (
  before: ReadonlyMap<string, number>,
  processes: Parameters<typeof cpuByGroup>[0],
): Readonly<Record<string, number>> =>
  Object.fromEntries([...cpuByGroup(processes)].map(([name, ms]) => [name, ms - (before.get(name) ?? 0)]));

/** Resident set size in KiB (proc(5)), without a program that this process waits for; undefined where there is no /proc. */
const statusKib = (pid: number): number | undefined => {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
  } catch {
    return undefined;
  }
};

/** Resident memory of one process in MiB, without its children. */
export const residentMiB = (pid: number): number => {
  const told = statusKib(pid);
  if (told !== undefined) return told / 1024;
  const found = entries().find((entry) => entry.pid === pid);
  if (!found) throw new Error(`process ${pid} is gone`);
  return found.kib / 1024;
};

/** A variable of another process's environment; undefined where there is no /proc. */
export const environmentOf = (pid: number, name: string): string | undefined => {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return variables.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
  } catch {
    return undefined;
  }
};
