/** ipmitool, and ipmi_sim to try it on. As a program it prints `{"programs": {...}}` or `{"missing": reason}`. */

const { ensurePrograms, unpackedBefore } = require('../../tools/offline/debian');
const { tell } = require('./told');

const wanted = { cache: 'ipmi', packages: ['ipmitool', 'openipmi'], names: ['ipmitool', 'ipmi_sim'], check: '-V' };

/**
 * Makes sure that both programs are there.
 * @returns {Promise<Record<string, string>>} their paths, by `ipmitool` and `ipmi_sim`
 * @throws Error that says why they cannot be had
 */
const ensureIpmi = () => ensurePrograms(wanted);

/** Where they were unpacked; undefined where they were not. */
const ipmiFolder = () => unpackedBefore(wanted);

if (require.main === module) tell(ensureIpmi().then((programs) => ({ programs })));

module.exports = { ipmiFolder };
