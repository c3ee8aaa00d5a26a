/** `npm start`: the whole system on this machine, until it is interrupted. */

require('./lib/node-version');
const { parseArgs } = require('node:util');
const { clouds, demoPassword } = require('./lib/clouds');
const { dataDir } = require('./lib/paths');
const { main, Stop } = require('./lib/say');
const { setUp } = require('./lib/setup');
const { withSystem } = require('./lib/session');

const usage = `npm start -- [--data DIR] [--rack N] [--no-seed]
  --data DIR   where everything is kept (default .temper/data, or TEMPER_DATA_DIR)
  --rack N     how many nodes the emulated rack has (default 8, or TEMPER_RACK_SIZE)
  --no-seed    start with an empty inventory`;

/** @returns {{data?: string, rackSize: number, seed: boolean} | undefined} undefined when only help was asked for */
function options(args) {
  /** @type {import('node:util').ParseArgsConfig['options']} */
  const known = {
    data: { type: 'string' },
    rack: { type: 'string' },
    'no-seed': { type: 'boolean' },
    help: { type: 'boolean' },
  };
  let values;
  try {
    ({ values } = parseArgs({ args, options: known }));
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
  if (values.help) return undefined;
  const rackSize = Number(values.rack ?? process.env.TEMPER_RACK_SIZE ?? 8);
  if (!Number.isInteger(rackSize) || rackSize < 0)
    throw new Stop(`--rack takes a number of nodes, not "${values.rack}".`);
  return { data: values.data, rackSize, seed: !values['no-seed'] };
}

/** A text as one word of a shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function welcome({ addresses, dir }) {
  const rows = (table) => Object.entries(table).map(([name, text]) => `  ${name.padEnd(16)} ${text}`);
  const users = [...new Set(Object.values(clouds).map(({ user }) => user))];
  return [
    '',
    'Temper is up.',
    ...rows({ Console: addresses.console }),
    ...rows({ API: addresses.api, Identity: addresses.identity, 'Temporal UI': addresses.temporalUi ?? 'none' }),
    ...rows({ 'Emulated rack': addresses.rack, Logs: `${dir}/logs` }),
    '',
    'Demo users (password):',
    ...users.map((user) => `  ${user.padEnd(16)} ${demoPassword(user)}`),
    '',
    'Try, with the baremetal command (python3 -m venv ~/ironic && ~/ironic/bin/pip install python-ironicclient):',
    `  export OS_CLIENT_CONFIG_FILE=${quoted(addresses.clouds)}`,
    '  OS_CLOUD=operator baremetal node list',
    '  OS_CLOUD=lessee baremetal node list',
    '  OS_CLOUD=lessee baremetal node service bmc-0 --runbook CUSTOM_RESTART --wait',
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}

if (require.main === module)
  main(async () => {
    const chosen = options(process.argv.slice(2));
    if (!chosen) return void process.stdout.write(`${usage}\n`);
    await setUp();
    return withSystem(dataDir(chosen.data), chosen, ({ supervisor }) => {
      process.stdout.write(welcome({ addresses: supervisor.addresses, dir: supervisor.dir }));
      return new Promise(() => {}); // until somebody interrupts
    });
  });

module.exports = { welcome };
