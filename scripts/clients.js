/** `npm run test:clients`: the suites that drive real OpenStack clients and emulators, which need Python; arguments go to Jest. */

require('./lib/node-version');
const os = require('node:os');
const { ensureClients } = require('./lib/python');
const { main, Stop } = require('./lib/say');
const { jest } = require('./lib/jest');
const { setUp } = require('./lib/setup');

main(async () => {
  await setUp();
  await ensureClients().catch((failure) => {
    throw new Stop(`The OpenStack clients cannot be installed: ${failure.message}`);
  });
  return jest(
    ['--selectProjects', 'clients', `--maxWorkers=${Math.min(Math.max(2, os.availableParallelism() - 1), 6)}`],
    process.argv.slice(2),
  );
});
