/** One at a time across processes: a lock file that names its holder, so that a dead holder's lock can be taken over. */

const fs = require('node:fs');
const path = require('node:path');
const { identify, runs } = require('./processes');
const { readJson } = require('./paths');
const { say } = require('./say');
const { setTimeout: pause } = require('node:timers/promises');

/**
 * Takes the lock at once or not at all.
 * @returns {{held: true, release: () => void} | {held: false, by: {pid: number}}}
 */
function tryLock(file) {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o711 });
  const mine = `${file}.${process.pid}`;
  fs.writeFileSync(mine, JSON.stringify(identify(process.pid)));
  try {
    for (;;) {
      try {
        fs.linkSync(mine, file); // appears with its content, so nobody reads a lock without a holder
        return { held: true, release: () => fs.rmSync(file, { force: true }) };
      } catch (failure) {
        if (failure.code !== 'EEXIST') throw failure;
      }
      const holder = readJson(file);
      if (runs(holder)) return { held: false, by: holder };
      const other = removeStale(file);
      if (other) return { held: false, by: other };
    }
  } finally {
    fs.rmSync(mine, { force: true });
  }
}

/**
 * Removes the lock of a dead holder. Two contenders that both found it stale must not both remove: the second would remove the
 * lock that the first has taken since. So whoever removes holds a lock on that alone, and reads the holder once more under it.
 * @returns {{pid: number} | undefined} who is removing it already
 */
function removeStale(file) {
  const guard = tryLock(`${file}.stale`);
  if (!guard.held) return guard.by;
  try {
    if (fs.existsSync(file) && !runs(readJson(file))) fs.rmSync(file, { force: true });
  } finally {
    guard.release();
  }
  return undefined;
}

/** Does the work while holding the lock, after whoever holds it now. */
async function withLock(file, what, work) {
  let lock = tryLock(file);
  if (!lock.held) say(`waiting for process ${lock.by.pid}, which is at ${what} already`);
  while (!lock.held) {
    await pause(200);
    lock = tryLock(file);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

module.exports = { tryLock, withLock };
