/**
 * Gets what the tests of clients and whole systems need beside npm's packages into the user's cache, for `.ci/run`, while other tests run.
 * Each suite gets what it needs by itself as well, and says what cannot be had.
 */

require('./lib/node-version');
const os = require('node:os');
const path = require('node:path');
const { ensureClients } = require('./lib/python');
const { main, say } = require('./lib/say');
const { run } = require('./lib/run');

/**
 * Programs of scripts/lib with their arguments, by the server that they are fetched from: one after the other from each, from all
 * servers at once.
 */
const programs = {
  pypi: [['suites.js'], ['schemathesis.js'], ['keystone.js'], ['glance.js'], ['ironic.js']],
  debian: [
    ['iso.js'],
    ['chromium.js'],
    ['buildah.js'],
    ['faketime.js'],
    ['ipmi.js'],
    ['rabbitmq.js'],
    ['rpm.js'],
    ['ramdisk-tools.js'],
    ['boot-programs.js', 'dnsmasq'],
    ['boot-programs.js', 'qemu'],
  ],
  go: [
    ['go.js', 'clients'],
    ['go.js', 'helm'],
    ['go.js', 'prometheus-rules'],
    ['go.js', 'nfpm'],
  ],
};

/** @param {string[][]} rows */
async function fetchAll(rows) {
  for (const [file, ...args] of rows) {
    const { output } = await run(process.execPath, [path.join(__dirname, 'lib', file), ...args]);
    for (const line of output.split('\n'))
      if (/^temper: .* s$|"missing"|"broken"/.test(line)) say(`${file} ${args.join(' ')}: ${line}`);
  }
}

if (require.main === module)
  main(async () => {
    // Tests that run meanwhile go first.
    os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
    const clients = ensureClients().catch((failure) => say(`no OpenStack clients: ${failure.message}`));
    await Promise.all([clients.then(() => fetchAll(programs.pypi)), fetchAll(programs.debian), fetchAll(programs.go)]);
    return 0;
  });

module.exports = { programs };
