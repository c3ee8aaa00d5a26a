/** Jest for `npm run mutation`: one project, the test files that the command names, servers that the command started. */
const config = require('./jest.config.js');

// A mutant is in src as it is loaded, so that each file of tests loads it.
const { displayName, globalSetup, runtime, ...pure } = config.projects[0];
const { tests = [], except = [] } = JSON.parse(process.env.TEMPER_MUTATION_TESTS ?? '{}');

module.exports = {
  ...pure,
  rootDir: __dirname,
  testMatch: tests.map((glob) => `<rootDir>/${glob}`),
  testPathIgnorePatterns: except.map((file) => `<rootDir>/${file}$`),
  testTimeout: config.testTimeout,
  // Stryker takes it as it stands.
  testEnvironment: require.resolve('./scripts/lib/mutation-environment.js'),
  testSequencer: '<rootDir>/scripts/lib/mutation-order.js',
};
