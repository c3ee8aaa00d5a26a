/**
 * `npm run screenshots`: pictures of the console in docs/images, and of every page at three widths in
 * .temper/screenshots. The console's own tests make them in a world of theirs.
 */

require('./lib/node-version');
const { mkdirSync } = require('node:fs');
const path = require('node:path');
const { jest } = require('./lib/jest');
const { root } = require('./lib/paths');
const { main } = require('./lib/say');
const { setUp } = require('./lib/setup');

main(async () => {
  await setUp();
  process.env.TEMPER_SCREENSHOTS = path.join(root, 'docs', 'images');
  process.env.TEMPER_SCREENSHOTS_ALL = path.join(root, '.temper', 'screenshots');
  mkdirSync(process.env.TEMPER_SCREENSHOTS_ALL, { recursive: true });
  return jest(['--selectProjects', 'clients', '--maxWorkers=1', '-t', 'pictures'], ['test/browser']);
});
