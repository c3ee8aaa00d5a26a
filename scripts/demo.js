/** `npm run demo`: a system of its own, the story of the product told on it, and everything stopped again. */

require('./lib/node-version');
const { bin } = require('./lib/paths');
const { main } = require('./lib/say');
const { setUp } = require('./lib/setup');
const { withThrowAwaySystem } = require('./lib/throw-away');

main(async () => {
  await setUp();
  return withThrowAwaySystem('demo', [bin('demo'), ...process.argv.slice(2)], { seed: false });
});
