/** Runs another program to its end. */

const { spawn } = require('node:child_process');

/**
 * Runs a program and gathers what it says; never throws for what the program does.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & {timeoutMs?: number, show?: boolean}} [options]
 *   `show` lets the program write to our own output instead of being gathered.
 * @returns {Promise<{ok: boolean, status: number | null, output: string, reason: string}>}
 *   `output` is both streams; `reason` says in few words why it is not ok.
 */
function run(command, args, { timeoutMs, show = false, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    let late = false;
    const gather = (chunk) => {
      output += chunk;
    };
    child.stdout?.on('data', gather);
    child.stderr?.on('data', gather);
    const timer = timeoutMs
      ? setTimeout(() => {
          late = true;
          child.kill('SIGKILL');
        }, timeoutMs)
      : undefined;
    const done = (status, why) => {
      clearTimeout(timer);
      const reason = late ? `no answer within ${Number(timeoutMs) / 1000} s` : why;
      resolve({ ok: status === 0 && !late, status, output, reason });
    };
    child.on('error', (/** @type {NodeJS.ErrnoException} */ failure) =>
      done(null, failure.code === 'ENOENT' ? `${command} is not there` : failure.message),
    );
    child.on('close', (status, signal) => done(status, lastLine(output) || `ended with ${signal ?? status}`));
  });
}

/** The last line that says something, cut to a readable length. */
function lastLine(text) {
  const lines = text.split('\n').filter((line) => line.trim());
  return (lines.at(-1) ?? '').trim().slice(0, 300);
}

module.exports = { lastLine, run };
