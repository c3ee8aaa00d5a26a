/** What a parent killed with -9 left running: found by what it wrote down, ended only when it is the very same process. */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { end, runs } = require('./processes');
const { readJson } = require('./paths');
const { say } = require('./say');

/** The file of a data folder in which its owner writes down itself and its children. */
const recordOf = (dir) => path.join(dir, 'system.json');

/**
 * Ends what the record of a data folder names and its owner no longer watches.
 * @returns {Promise<boolean>} false when the owner still runs, and nothing was done
 */
async function endLeftovers(dir) {
  const record = readJson(recordOf(dir));
  if (!record) return true;
  if (runs(record.owner)) return false;
  // Last started, first ended: the servers go when nobody uses them any more.
  for (const left of [...(record.processes ?? [])].reverse().filter(runs)) {
    say(`ending ${left.name} (pid ${left.pid}), left behind by a start that was killed`);
    await end(left, { with: left.stopSignal, graceMs: 20_000 });
  }
  return true;
}

/** Cleans up after test runs and demos that were killed: their processes and their temporary folders. */
async function sweepTemporary() {
  const names = fs.readdirSync(os.tmpdir()).filter((name) => /^temper-(test|demo|bench|chaos)-/.test(name));
  for (const dir of names.map((name) => path.join(os.tmpdir(), name))) {
    // A folder without a record is somebody's who is just starting, or somebody else's.
    if (fs.existsSync(recordOf(dir)) && isOurs(dir) && (await endLeftovers(dir))) {
      fs.rmSync(dir, { recursive: true, force: true });
    }
  }
}

/** The temporary folder is everybody's; a record that another user planted is not believed. */
const isOurs = (dir) => fs.statSync(recordOf(dir)).uid === (process.getuid?.() ?? 0);

module.exports = { endLeftovers, recordOf, sweepTemporary };
