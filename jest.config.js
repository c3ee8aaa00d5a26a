const os = require('node:os');
const { tiers } = require('./scripts/lib/tiers');

const swc = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

/** Pages are TSX; nothing else is read so, for in TSX a generic arrow function is a tag. */
const tsx = {
  ...swc,
  jsc: {
    parser: { syntax: 'typescript', tsx: true },
    transform: { react: { runtime: 'automatic', importSource: 'preact' } },
    target: 'es2022',
  },
};

// Modules that offer themselves to `import` alone, which the tests turn into `require`.
const esm = 'unixcrypt|temporal-polyfill|temporal-utils|temporal-spec|jose|openid-client|oauth4webapi|d3-[a-z-]+|internmap';

const project = (displayName, folders, rest) => ({
  displayName,
  rootDir: __dirname,
  roots: ['<rootDir>/test'],
  testMatch: folders.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
  testEnvironment: '<rootDir>/test/support/one-realm/environment.js',
  runtime: '<rootDir>/test/support/one-realm/runtime.js',
  transform: {
    '^.+\\.ts$': ['@swc/jest', swc],
    '^.+\\.tsx$': ['@swc/jest', tsx],
    [`/node_modules/(${esm})/.+\\.m?js$`]: ['@swc/jest', { ...swc, jsc: { ...swc.jsc, parser: { syntax: 'ecmascript' } } }],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esm})/)`],
  moduleNameMapper: { '^unixcrypt$': '<rootDir>/node_modules/unixcrypt/dist/index.js' },
  ...rest,
});

const named = Object.values(tiers).flatMap(({ folders }) => folders);

module.exports = {
  // A project's set-up runs only when a test of it was selected.
  projects: [
    project('pure', ['**'], { testPathIgnorePatterns: named.map((folder) => `<rootDir>/test/${folder}/`) }),
    ...Object.entries(tiers).map(([name, { folders, setup }]) =>
      project(name, folders, setup ? { globalSetup: `<rootDir>/test/support/${setup}.js` } : {}),
    ),
  ],
  globalTeardown: '<rootDir>/test/support/global-teardown.js',
  testSequencer: '<rootDir>/test/support/sequencer.js',
  // Many tests wait for a run, a process or a client's next poll: one more than there are cores fills them.
  maxWorkers: Math.min(os.availableParallelism() + 1, 8),
  // Only what never ends is too slow: one of two busy processors may take a minute for what is done here in seconds.
  testTimeout: 300_000,
  // Jest's 500 ms is too short for a worker of more than a GB on a busy machine. One that never ends is still reported.
  workerGracefulExitTimeout: 30_000,
};
