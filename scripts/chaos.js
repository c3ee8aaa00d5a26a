/** `npm run chaos`: a system of its own with an emulated rack; its processes are killed at every point of every verb. */

require('./lib/node-version');
const { parseArgs } = require('node:util');
const { bin } = require('./lib/paths');
const { main, Stop } = require('./lib/say');
const { setUp } = require('./lib/setup');
const { withThrowAwaySystem } = require('./lib/throw-away');

const usage = `npm run chaos -- [--sample N] [--seed N] [--verbs A,B] [--nodes N] [--faults]
  --sample N   only so many kills, chosen by the seed; nothing is written to docs
  --seed N     decides about order and sample (default: another one each time; it is printed)
  --verbs A,B  only these verbs; nothing is written to docs
  --nodes N    how many machines the rack has (default 64)
  --faults     the catalogue of misbehaving BMCs instead of kills`;

/** Quick hardware, and deaths that are noticed soon: nothing here changes what is done, only how long it takes. */
const settings = {
  TEMPER_HEARTBEAT_MS: '4000',
  TEMPER_RETRY_MS: '500',
  TEMPER_POLL_MS: '100',
  TEMPER_SETTLE_MS: '10000',
  TEMPER_AGENT_TIMEOUT_MS: '120000',
  TEMPER_HEARTBEAT_TIMEOUT_S: '10',
  TEMPER_POWER_SYNC_SECONDS: '0',
  TEMPER_MAX_CONCURRENT_CLEAN: '0',
  TEMPER_MAX_CONCURRENT_DEPLOY: '0',
  TEMPER_RACK_SPEED: '10',
};

/** @returns {{nodes?: string} | undefined} undefined when only help was asked for */
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
  Object.assign(process.env, settings);
  const rackSize = Number(chosen.nodes ?? 64);
  return withThrowAwaySystem('chaos', [bin('chaos'), ...args], { rackSize, seed: false });
});
