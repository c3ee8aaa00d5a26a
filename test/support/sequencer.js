/**
 * The order in which test files start: those that are known to take long first, the longest of them at once, so that none of
 * them is still at work when all others are done. Then the rest as Jest orders them: by what they took last time here, or by size.
 */
const path = require('node:path');
const Sequencer = require('@jest/test-sequencer').default;
const { slowSuites } = require('./slow-suites');

const test = path.resolve(__dirname, '..');
const names = Object.keys(slowSuites);

/** Seconds that a file of this path takes, as far as the table knows it. */
const secondsOf = (file) => slowSuites[names.find((name) => file === path.join(test, `${name}.test.ts`)) ?? ''] ?? 0;

module.exports = class SlowFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return [...sorted].sort((one, other) => secondsOf(other.path) - secondsOf(one.path));
  }
};
