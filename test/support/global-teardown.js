/** After all tests: lets the servers' keeper end them, and waits until it has. */
const { once } = require('node:events');

module.exports = async () => {
  const keeper = globalThis.temperTestServers;
  if (!keeper || keeper.exitCode !== null) return;
  keeper.ref();
  const ended = once(keeper, 'exit');
  keeper.disconnect();
  await ended;
  globalThis.temperTestServers = undefined;
};
