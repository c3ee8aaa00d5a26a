/**
 * A program that makes ISO images, which a BMC worker needs for config drives that are given as documents. As a program it
 * prints `{"programs": {...}}` or `{"missing": reason}`.
 */

const { ensurePrograms, unpackedBefore } = require('../../tools/offline/debian');
const { tell } = require('./told');

// The names are those that `src/bmc/agent/config-drive.ts` tries.
const isoMaker = {
  cache: 'iso',
  packages: ['genisoimage'],
  names: ['genisoimage', 'mkisofs', 'xorrisofs'],
  any: true,
  check: '--version',
};

/**
 * Makes sure that one is there.
 * @returns {Promise<Record<string, string>>} paths by name
 * @throws Error that says why none can be had
 */
const ensureIso = () => ensurePrograms(isoMaker);

/** Where it was unpacked; undefined where it was not. */
const isoFolder = () => unpackedBefore(isoMaker);

if (require.main === module) tell(ensureIso().then((programs) => ({ programs })));

module.exports = { ensureIso, isoFolder, isoMaker };
