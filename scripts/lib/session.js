/** A system for as long as some work lasts: one per data folder, ended in order whatever happens. */

const path = require('node:path');
const { bringUp } = require('./system');
const { endLeftovers, recordOf } = require('./orphans');
const { readJson } = require('./paths');
const { Stop, say } = require('./say');
const { Supervisor } = require('./supervisor');
const { tryLock } = require('./lock');

/** Shells report a program that a signal ended as 128 plus the signal's number. */
const statusOf = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/**
 * Brings a system up, does the work, takes it down again; an interrupt ends the work early, a second one ends it rudely.
 * @param {string} dir the data folder
 * @param {Parameters<typeof bringUp>[1]} options
 * @param {(up: {supervisor: InstanceType<typeof Supervisor>, visitor: Record<string, string>}) => Promise<number>} work answers the exit status
 * @returns {Promise<number>} exit status
 */
async function withSystem(dir, options, work) {
  const lock = tryLock(path.join(dir, 'start.lock'));
  if (!lock.held) throw new Stop(alreadyRuns(dir, lock.by.pid));
  const interrupted = interrupt();
  let supervisor;
  try {
    if (!(await endLeftovers(dir))) throw new Stop(alreadyRuns(dir, readJson(recordOf(dir)).owner.pid));
    supervisor = new Supervisor(dir);
    const worked = bringUp(supervisor, options).then((up) => work({ supervisor, ...up }));
    worked.catch(() => {}); // after an interrupt nobody asks any more what became of it
    return await Promise.race([worked, interrupted]);
  } finally {
    say('stopping');
    await supervisor?.stop();
    lock.release();
  }
}

/** Resolves with the exit status once somebody wants us to end, or who started us over a channel is gone. */
function interrupt() {
  return new Promise((resolve) => {
    process.once('disconnect', () => resolve(statusOf.SIGHUP));
    process.channel?.unref(); // the channel alone is no reason to stay
    for (const [name, status] of Object.entries(statusOf)) {
      process.once(name, () => {
        process.once(name, () => process.exit(status));
        resolve(status);
      });
    }
  });
}

function alreadyRuns(dir, pid) {
  const addresses = Object.entries(readJson(recordOf(dir))?.addresses ?? {});
  const shown = addresses
    .filter(([name]) => name !== 'postgresUrl')
    .map(([name, address]) => `  ${name.padEnd(12)} ${address}`);
  return [
    `Temper already runs on ${dir} (pid ${pid}).`,
    ...shown,
    'Stop that one, or give another folder with --data.',
  ].join('\n');
}

module.exports = { withSystem };
