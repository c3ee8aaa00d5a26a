/** `npm test`: every tier without a command of its own; arguments go to Jest. */

require('./lib/node-version');
const { main } = require('./lib/say');
const { jest } = require('./lib/jest');
const { setUp } = require('./lib/setup');
const { leftOut, usualTiers } = require('./lib/tiers');

main(async () => {
  await setUp();
  const given = process.argv.slice(2);
  const status = await jest(['--selectProjects', ...usualTiers], given);
  if (given.every((one) => one.startsWith('-'))) for (const line of leftOut()) process.stderr.write(`${line}\n`);
  return status;
});
