/** `npm run bench`: runs bench against a system of its own; its result is kept in .temper/bench.json. */

require('./lib/node-version');
const { parseArgs } = require('node:util');
const { main, Stop } = require('./lib/say');
const { bin } = require('./lib/paths');
const { setUp } = require('./lib/setup');
const { withThrowAwaySystem } = require('./lib/throw-away');

const usage = `npm run bench -- [--quick | --full] [--only <parts>] [--engine dev|production] [--json]
  --quick   few of everything: good for a trend, not for a figure
  --full    the sizes of the goals: 1,000 BMCs, 5,000 waiting nodes
  --only    some parts, comma-separated: start, run, http, several, identity, policy, memory, cycles, allocations, lists, walk, plans, rack, waiting, boot, rollouts, console, streams, power, growth, floods, worst, fleet
  --engine  Temporal's dev server (the default), or its server of production with 512 shards and its store in the bench's PostgreSQL, built from source
            with Go the first time
  --json    prints the result as JSON instead of tables; it is kept in .temper/bench.json either way`;

// What is measured is the work, not the queue before it.
const settings = { TEMPER_MAX_CONCURRENT_CLEAN: '0', TEMPER_MAX_CONCURRENT_DEPLOY: '0' };

const engines = ['dev', 'production'];

/** @returns {{engine: 'dev' | 'production'} | undefined} what there is to do: nothing when only help was asked for */
function wanted(args) {
  /** @type {import('node:util').ParseArgsConfig['options']} */
  const options = {
    quick: { type: 'boolean' },
    full: { type: 'boolean' },
    only: { type: 'string' },
    engine: { type: 'string', default: 'dev' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  };
  try {
    const { help, engine } = parseArgs({ args, options }).values;
    if (!engines.includes(String(engine)))
      throw new Error(`--engine: there is no engine ${engine}; there are: ${engines.join(', ')}`);
    return help ? undefined : { engine: /** @type {'dev' | 'production'} */ (engine) };
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
}

main(async () => {
  const args = process.argv.slice(2);
  const todo = wanted(args);
  if (!todo) return void process.stdout.write(`${usage}\n`);
  await setUp();
  Object.assign(process.env, settings);
  return withThrowAwaySystem('bench', [bin('bench'), ...args], { rackSize: 0, seed: false, ...todo });
});
