/** `npm run test:clients`: the suites that drive real OpenStack clients and emulators, which need Python; arguments go to Jest. */

require('./lib/node-version');
const { ensureClients } = require('./lib/python');
const { main, Stop } = require('./lib/say');
const { jest } = require('./lib/jest');
const { setUp } = require('./lib/setup');

main(async () => {
  await setUp();
  await ensureClients().catch((failure) => {
    throw new Stop(`The OpenStack clients cannot be installed: ${failure.message}`);
  });
  return jest(['--selectProjects', 'clients'], process.argv.slice(2));
});
