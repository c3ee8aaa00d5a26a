/**
 * Loaded by NODE_OPTIONS in front of an entry: the API process of place STILL_SLOT stops itself before anything of it runs, the
 * first time that there is one, and leaves its pid in STILL_FILE.
 */
const { writeFileSync } = require('node:fs');

const { API_PROCESS_SLOT: slot, STILL_SLOT: still, STILL_FILE: file } = process.env;
if (slot !== undefined && slot === still) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    process.kill(process.pid, 'SIGSTOP');
  } catch (thrown) {
    if (thrown.code !== 'EEXIST') throw thrown;
  }
}
