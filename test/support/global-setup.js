/** Before tests that need servers: one PostgreSQL and one Temporal for the whole run, and what is built for them. */
const { fork } = require('node:child_process');
const { once } = require('node:events');
const path = require('node:path');
const buildAndBundle = require('./bundle-setup');

const program = path.resolve(__dirname, '..', '..', 'scripts', 'lib', 'test-servers.js');

/** Starts the servers' keeper, once however many tiers ask; worker processes inherit the addresses it answers with. */
async function startServers() {
  if (globalThis.temperTestServers) return;
  // In a group of its own: a Ctrl-C ends Jest, which ends the channel, upon which the keeper ends the servers in order.
  const keeper = fork(program, { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  globalThis.temperTestServers = keeper;
  const [answer] = await Promise.race([
    once(keeper, 'message'),
    once(keeper, 'exit').then(() => [{ failed: 'The test servers ended before they were ready.' }]),
  ]);
  if (answer.failed) throw new Error(answer.failed);
  Object.assign(process.env, answer.env);
  // Neither the process nor its channel keeps Jest from ending.
  keeper.unref();
  keeper.channel.unref();
}

module.exports = async () => {
  await buildAndBundle();
  await startServers();
};
