/** `npm run chaos`: a system of its own with an emulated rack; its processes are killed at every point of every verb. */

require('./lib/node-version');
const { parseArgs } = require('node:util');
const { bin } = require('./lib/paths');
const { forFaults, settings } = require('./lib/chaos-settings');
const { clocksOfRound, ensureFaketime } = require('./lib/faketime');
const { main, Stop } = require('./lib/say');
const { setUp } = require('./lib/setup');
const { withThrowAwaySystem } = require('./lib/throw-away');

const usage = `npm run chaos -- [--sample N] [--seed N] [--verbs A,B] [--nodes N] [--faults | --pauses | --clocks ROUND]
  --sample N   only so many kills or pauses, chosen by the seed; of kills nothing is written to docs
  --seed N     decides about order and sample (default: another one each time; it is printed)
  --verbs A,B  only these verbs; nothing is written to docs
  --nodes N    how many machines the rack has (default 128; 64 for faults)
  --faults     the catalogue of misbehaving BMCs instead of kills
  --pauses     SIGSTOP for 10, 25, 45 and 120 s instead of kills, with two workers of each kind
  --clocks N   kills while the clocks of workers and API differ, round 0 to 5, with two workers of each kind`;

/** @returns {{nodes?: string, faults?: boolean} | undefined} undefined when only help was asked for */
function options(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const known = {
    sample: text,
    seed: text,
    verbs: text,
    nodes: text,
    faults: flag,
    pauses: flag,
    clocks: text,
    help: flag,
  };
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
  if (chosen.pauses || chosen.clocks) process.env.CHAOS_WORKERS = '2';
  if (chosen.clocks) {
    process.env.CHAOS_FAKETIME = (await ensureFaketime()).library;
    process.env.CHAOS_CLOCKS = clocksOfRound(Number(chosen.clocks));
  }
  const rackSize = Number(chosen.nodes ?? (chosen.faults ? 64 : 128));
  return withThrowAwaySystem('chaos', [bin('chaos'), ...args], { rackSize, seed: false });
});
