/** `npm run chaos`: a system of its own with an emulated rack; its processes are killed at every point of every verb. */

require('./lib/node-version');
const { parseArgs } = require('node:util');
const { bin } = require('./lib/paths');
const { forFaults, settings } = require('./lib/chaos-settings');
const { main, Stop } = require('./lib/say');
const { setUp } = require('./lib/setup');
const { withThrowAwaySystem } = require('./lib/throw-away');

const usage = `npm run chaos -- [--sample N] [--seed N] [--verbs A,B] [--nodes N] [--faults]
  --sample N   only so many kills, chosen by the seed; nothing is written to docs
  --seed N     decides about order and sample (default: another one each time; it is printed)
  --verbs A,B  only these verbs; nothing is written to docs
  --nodes N    how many machines the rack has (default 128; 64 for faults)
  --faults     the catalogue of misbehaving BMCs instead of kills`;

/** @returns {{nodes?: string, faults?: boolean} | undefined} undefined when only help was asked for */
function options(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const known = { sample: text, seed: text, verbs: text, nodes: text, faults: flag, help: flag };
  try {
    const { values } = parseArgs({ args, options: known });
    return values.help ? undefined : values;
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
}

main(async () => {
  const args = process.argv.slice(2);
  const chosen = options(args);
  if (!chosen) return void process.stdout.write(`${usage}\n`);
  await setUp();
  Object.assign(process.env, settings, chosen.faults ? forFaults : {});
  const rackSize = Number(chosen.nodes ?? (chosen.faults ? 64 : 128));
  return withThrowAwaySystem('chaos', [bin('chaos'), ...args], { rackSize, seed: false });
});
