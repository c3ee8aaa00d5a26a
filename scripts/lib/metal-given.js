/** What the metal tests are given, or why they are skipped. */

const { Unreachable } = require('./debian-root');

/**
 * A machine that lacks something skips the tests by name; what cannot be made on one that has all is a failure.
 * @param {() => Promise<string | undefined>} lacking says what this machine lacks
 * @param {() => Promise<string>} makeTools the root with QEMU
 * @param {(tools: string) => Promise<Record<string, string>>} makeRest what is made or started with it
 * @returns {Promise<Record<string, string>>} for the environment of the tests
 * @throws what makes a part of it fail, but an unreachable mirror where there is no QEMU yet
 */
async function metalGiven(lacking, makeTools, makeRest) {
  const missing = await lacking();
  if (missing) return { TEMPER_TEST_METAL_MISSING: missing };
  let tools;
  try {
    tools = await makeTools();
  } catch (failure) {
    if (!(failure instanceof Unreachable)) throw failure;
    return { TEMPER_TEST_METAL_MISSING: `needs QEMU: ${failure.message}` };
  }
  return { TEMPER_TEST_METAL: JSON.stringify({ tools, ...(await makeRest(tools)) }) };
}

module.exports = { metalGiven };
