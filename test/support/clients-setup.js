/**
 * Before tests that drive real OpenStack clients: the servers, what makes ISO images, and the clients in a Python
 * environment of their own.
 */
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const path = require('node:path');
const { ensureIso } = require('../../scripts/lib/iso');
const { temporaryDir } = require('../../scripts/lib/paths');
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

/** Loads the clients once for all commands. @returns the folder of the commands, which goes when this process does */
async function loadClients(bin) {
  const folder = temporaryDir('clients');
  const program = path.join(__dirname, 'forked_clients.py');
  const server = spawn(path.join(bin, 'python'), [program, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(server, 'exit').then(() => {
    throw new Error('the process that loads the OpenStack clients ended');
  });
  await Promise.race([once(server.stdout, 'data'), ended]);
  // Neither the process nor its pipes keep Jest from ending.
  for (const one of [server, server.stdin, server.stdout]) one.unref();
  ended.catch(() => {});
  return folder;
}

module.exports = async () => {
  await startServers();
  await ensureIsoMaker();
  try {
    process.env.TEMPER_TEST_CLIENTS_BIN = await loadClients(await ensureClients());
  } catch (failure) {
    // Without Python the tests of the clients say so themselves; all others of the tier go on.
    process.env.TEMPER_TEST_CLIENTS_MISSING = failure.message;
    say(`no OpenStack clients: ${failure.message}`);
  }
};
