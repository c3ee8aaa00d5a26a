/** The program rpm, to install packages in tests. As a program it prints `{"rpm": path, "config": folder}` or `{"missing": reason}`. */

const path = require('node:path');
const { ensurePrograms, unpackedBefore } = require('../../tools/offline/debian');
const { tell } = require('./told');

const wanted = { cache: 'rpm', packages: ['rpm'], names: ['rpm'], check: '--version' };

/** Where rpm was unpacked, it reads its configuration there: RPM_CONFIGDIR says so. */
async function ensureRpm() {
  const { rpm } = await ensurePrograms(wanted);
  const bin = unpackedBefore(wanted);
  const config = bin && rpm.startsWith(bin) ? path.join(bin, '..', 'root', 'usr', 'lib', 'rpm') : '/usr/lib/rpm';
  return { rpm, config };
}

if (require.main === module) tell(ensureRpm());
