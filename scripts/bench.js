/** `npm run bench`: runs bench against a system of its own; its result is kept in .temper/bench.json. */

require('./lib/node-version');
const { parseArgs } = require('node:util');
const { run } = require('./lib/run');
const { main, say, Stop } = require('./lib/say');
const { bin } = require('./lib/paths');
const { setUp } = require('./lib/setup');
const { withThrowAwaySystem } = require('./lib/throw-away');

const usage = `npm run bench -- [--quick | --full] [--only <parts>] [--engine dev|production] [--json]
  --quick   few of everything: good for a trend, not for a figure
  --full    the sizes of the goals: 1,000 BMCs, 5,000 waiting nodes
  --only    some parts, comma-separated: start, run, http, identity, policy, memory, cycles, allocations, lists, walk, plans, rack, waiting, boot, rollouts, console, streams, power, growth, floods, worst, fleet
  --engine  Temporal's dev server (the default), or its server of production with 512 shards and its store in the bench's PostgreSQL, built from source
            with Go the first time
  --json    prints the result as JSON instead of tables; it is kept in .temper/bench.json either way`;

// What is measured is the work, not the queue before it.
const settings = { TEMPER_MAX_CONCURRENT_CLEAN: '0', TEMPER_MAX_CONCURRENT_DEPLOY: '0' };

/** Nobody else listens in a network of its own, so that the port of serial lines is free. */
const ownNetwork = {
  BENCH_NETWORK: 'own',
  TEMPER_SERIAL_CONSOLE_PUBLIC_URL: 'http://127.0.0.1:6389',
  TEMPER_SERIAL_CONSOLE_PORT: '6389',
};

const engines = ['dev', 'production'];

/**
 * Starts this again in a network namespace, where nobody else sends and only the loopback network is.
 * @returns its status; undefined where this machine does not let us
 */
async function inOwnNetwork(args) {
  const up = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  const able = await run('unshare', [...up, 'true']);
  if (!able.ok) return void say(`floods: in the network of this machine, for ${able.reason}`);
  const env = { ...process.env, ...ownNetwork };
  const { status } = await run('unshare', [...up, process.execPath, __filename, ...args], { show: true, env });
  return status ?? 1;
}

/** @returns {{engine: 'dev' | 'production', only?: string} | undefined} what there is to do: nothing when only help was asked for */
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
    const { help, engine, only } = parseArgs({ args, options }).values;
    if (!engines.includes(String(engine)))
      throw new Error(`--engine: there is no engine ${engine}; there are: ${engines.join(', ')}`);
    return help
      ? undefined
      : { engine: /** @type {'dev' | 'production'} */ (engine), only: only === undefined ? undefined : String(only) };
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
}

main(async () => {
  const args = process.argv.slice(2);
  const todo = wanted(args);
  if (!todo) return void process.stdout.write(`${usage}\n`);
  await setUp();
  if (todo.only === 'floods' && process.env.BENCH_NETWORK === undefined) {
    const status = await inOwnNetwork(args);
    if (status !== undefined) return status;
  }
  Object.assign(process.env, settings);
  const { only: _, ...engine } = todo;
  return withThrowAwaySystem('bench', [bin('bench'), ...args], { rackSize: 0, seed: false, ...engine });
});
