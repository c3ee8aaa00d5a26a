/** One child process: spawned into a group of its own, its output in a file, ready when it says so. */

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const { end, identify } = require('./processes');
const { setTimeout: pause } = require('node:timers/promises');

/**
 * @typedef {object} ChildSpec
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {import('node:child_process').SpawnOptions} [options]
 * @property {boolean} [ipc] whether it gets a channel whose end tells it that its parent died
 * @property {NodeJS.Signals} [stopSignal] what asks it to end; SIGTERM unless said otherwise
 * @property {number} [umask] which rights files that it makes have not, where it does not say itself
 * @property {number} [graceMs] how long it may take to end
 * @property {() => Promise<void>} [beforeStart] done before every start
 * @property {() => Promise<boolean>} [ready] asked until it is true
 * @property {number} [readyTimeoutMs]
 * @property {number} [tries] how often its first start is tried when it ends at once; 1 unless said otherwise
 */

/** Logs larger than this are put aside at the next start. */
const logLimit = 20 * 1024 * 1024;

function openLog(file) {
  if ((fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > logLimit) fs.renameSync(file, `${file}.1`);
  return fs.openSync(file, 'a', 0o600);
}

/** The last lines of a log, for a message about why its process did not come up. */
function tail(file, lines = 20) {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

/** A child inherits ours, and spawning is one synchronous call. */
function withUmask(umask, work) {
  if (umask === undefined) return work();
  const before = process.umask(umask);
  try {
    return work();
  } finally {
    process.umask(before);
  }
}

/**
 * Starts a process. Its output goes straight to the file and not through us, so that it survives us without a broken pipe.
 * The group of its own keeps a Ctrl-C at the terminal from reaching it before its parent decides on the order.
 * @param {ChildSpec} spec
 * @param {string} logFile
 */
function start(spec, logFile) {
  const log = openLog(logFile);
  /** @type {import('node:child_process').StdioOptions} */
  const stdio = ['ignore', log, log, ...(spec.ipc ? /** @type {const} */ (['ipc']) : [])];
  const child = withUmask(spec.umask, () => spawn(spec.command, spec.args, { ...spec.options, stdio, detached: true }));
  fs.closeSync(log);
  let over = false;
  const exited = new Promise((resolve) => {
    const ended = (how) => {
      over = true;
      resolve(how);
    };
    child.once('exit', (code, signal) => ended(signal ?? code ?? 'unknown'));
    child.once('error', (failure) => ended(failure.message));
  });
  const identity = child.pid ? identify(child.pid) : { pid: 0 };
  return {
    spec,
    child,
    identity,
    exited,
    isOver: () => over,
    stop: async () => {
      await end(identity, { with: spec.stopSignal, graceMs: spec.graceMs });
      if (child.pid) await exited;
    },
  };
}

/**
 * Waits until a started process is ready.
 * @returns {Promise<string | undefined>} undefined when it is, else why not
 */
async function becomesReady(running) {
  const { ready, readyTimeoutMs = 60_000 } = running.spec;
  const deadline = Date.now() + readyTimeoutMs;
  for (;;) {
    if (running.isOver()) return `it ended with ${await running.exited}`;
    if (!ready || (await ready())) return undefined;
    if (Date.now() > deadline) return `it was not ready within ${readyTimeoutMs / 1000} s`;
    await pause(50);
  }
}

module.exports = { becomesReady, start, tail };
