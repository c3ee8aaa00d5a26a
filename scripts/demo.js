/** `npm run demo`: a system of its own, the story of the product told on it, and everything stopped again, with `--keep` on Ctrl-C. */

require('./lib/node-version');
const { bin } = require('./lib/paths');
const { main } = require('./lib/say');
const { setUp } = require('./lib/setup');
const { withThrowAwaySystem } = require('./lib/throw-away');

main(async () => {
  const given = process.argv.slice(2);
  const keep = given.includes('--keep');
  await setUp();
  // BMCs of the emulated rack answer at once and may be looked at often: what the story waits for is the machines' own time.
  process.env.TEMPER_POLL_MS ??= '200';
  return withThrowAwaySystem('demo', [bin('demo'), ...given.filter((one) => one !== '--keep')], { seed: false, keep });
});
