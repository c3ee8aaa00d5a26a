/** `npm run test:e2e`: whole systems, whose processes are killed at every point; arguments go to Jest. */

require('./lib/node-version');
const { main } = require('./lib/say');
const { jest } = require('./lib/jest');
const { setUp } = require('./lib/setup');

main(async () => {
  await setUp();
  return jest(['--selectProjects', 'e2e'], process.argv.slice(2));
});
