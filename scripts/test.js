/** `npm test`: every tier but the clients' own suites; arguments go to Jest. */

require('./lib/node-version');
const { main } = require('./lib/say');
const { jest } = require('./lib/jest');
const { setUp } = require('./lib/setup');

main(async () => {
  await setUp();
  return jest(['--selectProjects', 'pure', 'bundle', 'servers', 'e2e'], process.argv.slice(2));
});
