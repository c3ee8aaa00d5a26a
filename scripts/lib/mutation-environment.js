/**
 * Where tests run in `npm run mutation`. Once a test has noticed a mutant, the others are skipped: Stryker's runner would go on
 * through all of them, and a mutant that an assertion has caught would then count as one that ran out of its time.
 */

const { TestEnvironment } = require('jest-environment-node');

/** The mutant of which the test files that run in this process speak, as Stryker names it; none in its first run. */
const activeMutant = () => process.env.__STRYKER_ACTIVE_MUTANT__;
/** The last one that a test has noticed. */
let noticed;

class FirstFailureEnvironment extends TestEnvironment {
  async handleTestEvent({ name, test }, { rootDescribeBlock }) {
    const mutant = activeMutant();
    if (mutant === undefined) return;
    if (name === 'test_done' && test.errors.length > 0) noticed = mutant;
    if (noticed !== mutant) return;
    if (name === 'test_start') test.mode = 'skip';
    // Without a test to run, no hook runs that starts a database.
    if (name === 'run_start') skipAll(rootDescribeBlock);
  }
}

const skipAll = (block) => {
  block.mode = 'skip';
  for (const child of block.children) {
    if (child.type === 'describeBlock') skipAll(child);
    else child.mode = 'skip';
  }
};

module.exports = FirstFailureEnvironment;
