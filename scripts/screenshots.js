/** `npm run screenshots`: pictures of the console in docs/images, made by its own tests in a world of theirs. */

require('./lib/node-version');
const path = require('node:path');
const { jest } = require('./lib/jest');
const { root } = require('./lib/paths');
const { main } = require('./lib/say');
const { setUp } = require('./lib/setup');

main(async () => {
  await setUp();
  process.env.TEMPER_SCREENSHOTS = path.join(root, 'docs', 'images');
  return jest(['--selectProjects', 'clients', '--maxWorkers=1', '-t', 'pictures'], ['test/browser']);
});
