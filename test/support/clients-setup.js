/** Before tests that drive real OpenStack clients: the servers, and the clients in a Python environment of their own. */
const { ensureClients } = require('../../scripts/lib/python');
const { say } = require('../../scripts/lib/say');
const startServers = require('./global-setup');

module.exports = async () => {
  await startServers();
  try {
    process.env.TEMPER_TEST_CLIENTS_BIN = await ensureClients();
  } catch (failure) {
    // Without Python the tests of the clients say so themselves; all others of the tier go on.
    process.env.TEMPER_TEST_CLIENTS_MISSING = failure.message;
    say(`no OpenStack clients: ${failure.message}`);
  }
};
