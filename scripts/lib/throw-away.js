/** A system of its own for one program: fresh folder, free ports, gone afterwards. Never meets `npm start` or another. */

const fs = require('node:fs');
const { run } = require('./run');
const { say } = require('./say');
const { sweepTemporary } = require('./orphans');
const { temporaryDir } = require('./paths');
const { withSystem } = require('./session');

/**
 * Runs a Node program against a throw-away system.
 * @param {'demo' | 'bench' | 'chaos'} purpose names the folder
 * @param {string[]} program file and arguments
 * @param {{rackSize?: number, seed?: boolean, keep?: boolean, entry?: (name: string) => string}} [options] `keep`: the system stays up
 *   after the program, until it is interrupted
 * @returns {Promise<number>} the program's exit status; after a failure the folder with the logs stays, after an interrupt nothing does
 */
async function withThrowAwaySystem(purpose, program, options = {}) {
  await sweepTemporary();
  const dir = temporaryDir(purpose);
  let status = 1;
  try {
    status = await withSystem(dir, { ...options, fresh: true }, async ({ visitor }) => {
      const answer = await run(process.execPath, program, { show: true, env: { ...process.env, ...visitor } });
      if (options.keep) await untilInterrupted(dir);
      return answer.status ?? 1;
    });
    return status;
  } finally {
    if (status === 0 || status > 128) fs.rmSync(dir, { recursive: true, force: true });
    else say(`the logs are in ${dir}/logs`);
  }
}

/** What the program said last can be looked at; an interrupt ends the system, and this with it. */
function untilInterrupted(dir) {
  say(`the system stays up, its logs are in ${dir}/logs; Ctrl-C stops it`);
  return new Promise(() => {});
}

module.exports = { withThrowAwaySystem };
