/** Systems of their own for one program: fresh folders, free ports, gone afterwards. Never meet `npm start` or another. */

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
const withThrowAwaySystem = (purpose, program, options = {}) =>
  withThrowAwaySystems(purpose, [options], async ([{ dir, visitor }]) => {
    const answer = await run(process.execPath, program, { show: true, env: { ...process.env, ...visitor } });
    if (options.keep) await untilInterrupted(dir);
    return answer.status ?? 1;
  });

/**
 * Does work while so many throw-away systems run, each with options and a folder of its own.
 * @param {Parameters<typeof import('./system').bringUp>[1][]} each
 * @param {(ups: {dir: string, visitor: Record<string, string>, migrate: Record<string, string>}[]) => Promise<number>} work answers the exit status
 */
async function withThrowAwaySystems(purpose, each, work) {
  await sweepTemporary();
  const dirs = each.map(() => temporaryDir(purpose));
  const next = (ups) => {
    const at = ups.length;
    if (at === each.length) return work(ups);
    return withSystem(dirs[at], { ...each[at], fresh: true }, (up) => next([...ups, { dir: dirs[at], ...up }]));
  };
  let status = 1;
  try {
    status = await next([]);
    return status;
  } finally {
    const gone = status === 0 || status > 128;
    for (const dir of dirs) {
      if (gone) fs.rmSync(dir, { recursive: true, force: true });
      else say(`the logs are in ${dir}/logs`);
    }
  }
}

/** What the program said last can be looked at; an interrupt ends the system, and this with it. */
function untilInterrupted(dir) {
  say(`the system stays up, its logs are in ${dir}/logs; Ctrl-C stops it`);
  return new Promise(() => {});
}

module.exports = { withThrowAwaySystem, withThrowAwaySystems };
