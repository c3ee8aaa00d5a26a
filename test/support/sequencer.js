/**
 * The order in which test files start. Those that are known to take long come early, the longest of them first, so that none is
 * still at work when all others are done. They wait most of the time, the others compute: between two of the former go some of
 * the latter, in Jest's own order, so that the processors are neither idle nor crowded.
 */
const path = require('node:path');
const Sequencer = require('@jest/test-sequencer').default;
const { slowSuites } = require('./slow-suites');

const tests = path.resolve(__dirname, '..');
const seconds = new Map(Object.entries(slowSuites).map(([name, s]) => [path.join(tests, `${name}.test.ts`), s]));

/** How many of the longest start at once. */
const atOnce = 2;
/** By when, as a share of the others, all that are slow have started. */
const startedBy = 0.6;

module.exports = class SlowFirst extends Sequencer {
  async sort(given) {
    const sorted = await super.sort(given);
    const slow = sorted.filter((one) => seconds.has(one.path));
    const others = sorted.filter((one) => !seconds.has(one.path));
    slow.sort((one, other) => seconds.get(other.path) - seconds.get(one.path));
    const between = Math.floor((others.length * startedBy) / Math.max(1, slow.length));
    const early = slow.flatMap((one, at) => [one, ...(at + 1 < atOnce ? [] : others.splice(0, between))]);
    return [...early, ...others];
  }
};
