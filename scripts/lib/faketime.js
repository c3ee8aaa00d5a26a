/**
 * Wrong clocks for single processes, by libfaketime: CHAOS_CLOCKS is `name=seconds,...`. As a program it prints
 * `{"programs": {...}}` or `{"missing": reason}`.
 */

const fs = require('node:fs');
const path = require('node:path');
const { ensurePrograms } = require('../../tools/offline/debian');
const { tell } = require('./told');

const wanted = { cache: 'faketime', packages: ['faketime', 'libfaketime'], names: ['faketime'], check: '--version' };

const systemLibraries = '/usr/lib';
const below = (root) =>
  fs
    .readdirSync(root)
    .map((name) => path.join(root, name, 'faketime', 'libfaketime.so.1'))
    .find((file) => fs.existsSync(file));

/**
 * Makes sure that the library is there.
 * @returns {Promise<{faketime: string, library: string}>}
 * @throws Error that says why it cannot be had
 */
async function ensureFaketime() {
  const { faketime } = await ensurePrograms(wanted);
  // Unpacked, the program is a wrapper beside the package's own tree.
  const unpacked = path.join(path.dirname(faketime), '..', 'root', 'usr', 'lib');
  const library = below(fs.existsSync(unpacked) ? unpacked : systemLibraries);
  if (!library) throw new Error('the package faketime came without its library');
  return { faketime, library };
}

/** Seconds by which the clock of a process is to be ahead; 0 where none are asked for. */
const offsetOf = (name, clocks) =>
  Number(
    clocks
      .split(',')
      .find((row) => row.startsWith(`${name}=`))
      ?.split('=')[1] ?? 0,
  );

/** The environment that gives a process its clock. Only the time of day is wrong: how long something lasts is not. */
function clockOf(name, clocks = process.env.CHAOS_CLOCKS ?? '') {
  const seconds = offsetOf(name, clocks);
  if (seconds === 0) return {};
  const library = process.env.CHAOS_FAKETIME;
  if (!library) throw new Error('CHAOS_CLOCKS needs CHAOS_FAKETIME, the path of libfaketime.so.1');
  return {
    LD_PRELOAD: library,
    FAKETIME: `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    FAKETIME_NO_CACHE: '1',
  };
}

/** Processes whose clocks may differ, and by how many seconds. */
const clocked = ['worker-bmc-default', 'worker-bmc-default-2', 'worker-control', 'worker-control-2', 'api'];
const offsets = [-3600, 3600, -300, 300, -10, 10];

/** Clocks of a round, 0 to 5: in six rounds every process has every offset once. */
const clocksOfRound = (round) =>
  clocked.map((name, at) => `${name}=${offsets[(at + round) % offsets.length]}`).join(',');

if (require.main === module) tell(ensureFaketime().then((programs) => ({ programs })));

module.exports = { clockOf, clocksOfRound, ensureFaketime };
