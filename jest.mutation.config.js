/** Jest for `npm run mutation`: one project, the test files that the command names, servers that the command started. */
const config = require('./jest.config.js');

const { displayName, globalSetup, testPathIgnorePatterns, ...pure } = config.projects[0];

module.exports = {
  ...pure,
  rootDir: __dirname,
  testMatch: JSON.parse(process.env.TEMPER_MUTATION_TESTS ?? '[]').map((glob) => `<rootDir>/${glob}`),
  testTimeout: config.testTimeout,
};
