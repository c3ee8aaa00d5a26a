/** Processes on processors of their own, where the machine can: what is measured is not what else runs beside it. */
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';

/** Processors of what is measured, and of what asks it, as `taskset` lists them; undefined where that cannot be. */
export const processorsApart = (): { readonly measured: string; readonly asking: string } | undefined => {
  const count = cpus().length;
  const can = count >= 3 && spawnSync('taskset', ['--version']).status === 0;
  return can ? { measured: '0', asking: `1-${count - 1}` } : undefined;
};

/** Binds a process and all its threads to processors. */
export const pin = (pid: number, processors: string): void => {
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', processors, String(pid)]);
};
