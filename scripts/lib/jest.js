/** Runs Jest to its end and answers its exit status. */

const path = require('node:path');
const { modules, root } = require('./paths');
const { run } = require('./run');

/** @param {string[]} own our arguments @param {string[]} given the caller's */
async function jest(own, given) {
  const program = path.join(modules, 'jest', 'bin', 'jest.js');
  const interrupts = ['SIGINT', 'SIGTERM'];
  // At a terminal Jest gets the interrupt itself; we only wait for it to end.
  for (const name of interrupts) process.on(name, () => {});
  const answer = await run(process.execPath, [program, ...given, ...own], { cwd: root, show: true });
  return answer.status ?? 1;
}

module.exports = { jest };
