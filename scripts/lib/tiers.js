/**
 * Test tiers: the folders of test that need the same before they run. A folder that is named nowhere needs nothing but Node.
 * `npm test` runs the tiers without a command of their own, and says at its end which commands run the others.
 */

const fs = require('node:fs');
const path = require('node:path');
const { root } = require('./paths');

/** @type {Record<string, { folders: string[], setup?: string, command?: string, what?: string }>} */
const tiers = {
  bundle: { folders: ['layout', 'replay'], setup: 'bundle-setup' },
  servers: { folders: ['inventory', 'activities', 'api', 'advisories', 'console', 'runs'], setup: 'global-setup' },
  e2e: { folders: ['e2e'], setup: 'clients-setup', command: 'npm run test:e2e', what: 'whole systems' },
  clients: {
    folders: ['clients', 'browser'],
    setup: 'clients-setup',
    command: 'npm run test:clients',
    what: "Ironic's clients, browsers and emulators",
  },
  metal: { folders: ['metal'], command: 'npm run test:metal', what: 'virtual machines with real firmware' },
};

/** The tiers of `npm test`, as Jest names its projects. */
const usualTiers = ['pure', ...Object.keys(tiers).filter((name) => !tiers[name].command)];

const filesIn = (folder) =>
  fs.readdirSync(path.join(root, 'test', folder), { recursive: true }).filter((file) => `${file}`.endsWith('.test.ts'));

/** @returns {string[]} a line for each tier that `npm test` leaves out */
const leftOut = () =>
  Object.values(tiers)
    .filter(({ command }) => command)
    .map(({ folders, command, what }) => {
      const files = folders.flatMap(filesIn).length;
      return `Not run: ${what}, ${files} ${files === 1 ? 'file' : 'files'}. To run them, type: ${command}`;
    });

module.exports = { leftOut, tiers, usualTiers };
