/** Knowing a process again: a pid alone may have been given to somebody else since. */

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const { setTimeout: pause } = require('node:timers/promises');

/**
 * When a process began, in a form that only compares for equality; undefined when it is gone or a zombie.
 * Linux: field 22 of /proc/<pid>/stat, counted after the command name, which may itself hold blanks and parentheses.
 */
function startOf(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (process.platform === 'linux') {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The command line of a process, blanks between its words; empty when it cannot be read. */
function commandOf(pid) {
  try {
    if (process.platform === 'linux')
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** What to write down about a process so that it can be known again. */
const identify = (pid) => ({ pid, started: startOf(pid), command: commandOf(pid).slice(0, 200) });

/** Whether the very process that was written down still runs. */
const runs = (identity) => Boolean(identity?.started) && startOf(identity.pid) === identity.started;

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (failure) {
    if (failure.code !== 'ESRCH') throw failure;
  }
}

/** Waits until `done()` is true; false when `ms` passed before that. */
async function until(done, ms, everyMs = 50) {
  const deadline = Date.now() + ms;
  while (!(await done())) {
    if (Date.now() > deadline) return false;
    await pause(everyMs);
  }
  return true;
}

/**
 * Ends a process that was written down, and only that one: politely first, then its whole process group by force.
 * @param {{pid: number, started?: string}} identity
 * @param {{with?: NodeJS.Signals, graceMs?: number}} [how]
 */
async function end(identity, { with: polite = 'SIGTERM', graceMs = 10_000 } = {}) {
  if (!runs(identity)) return;
  signal(identity.pid, polite);
  if (await until(() => !runs(identity), graceMs)) return;
  // Everything we start leads a group of its own; a process that does not is ended alone.
  try {
    process.kill(-identity.pid, 'SIGKILL');
  } catch {
    signal(identity.pid, 'SIGKILL');
  }
  await until(() => !runs(identity), 5_000);
}

module.exports = { end, identify, runs, until };
