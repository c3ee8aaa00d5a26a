/**
 * Before tests that drive real OpenStack clients: the servers, what makes ISO images, and the clients in a Python
 * environment of their own.
 */
const { ensureIso } = require('../../scripts/lib/iso');
const { ensureClients } = require('../../scripts/lib/python');
const { say } = require('../../scripts/lib/say');
const startServers = require('./global-setup');

/** Without such a program the one test that needs it says so itself. */
async function ensureIsoMaker() {
  try {
    await ensureIso();
  } catch (failure) {
    process.env.TEMPER_TEST_ISO_MISSING = failure.message;
    say(`nothing to make ISO images with: ${failure.message}`);
  }
}

module.exports = async () => {
  await startServers();
  await ensureIsoMaker();
  try {
    process.env.TEMPER_TEST_CLIENTS_BIN = await ensureClients();
  } catch (failure) {
    // Without Python the tests of the clients say so themselves; all others of the tier go on.
    process.env.TEMPER_TEST_CLIENTS_MISSING = failure.message;
    say(`no OpenStack clients: ${failure.message}`);
  }
};
