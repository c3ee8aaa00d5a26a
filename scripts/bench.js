/** `npm run bench`: compiles bench and runs it against a system of its own; its result is kept in .temper/bench.json. */

require('./lib/node-version');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { main, Stop, timed } = require('./lib/say');
const { modules, root, workDir } = require('./lib/paths');
const { run } = require('./lib/run');
const { setUp } = require('./lib/setup');
const { withThrowAwaySystem } = require('./lib/throw-away');

const usage = `npm run bench -- [--quick] [--json]
  --quick   one round of a second each and few runs: good for a trend, not for a figure
  --json    prints the result as JSON instead of tables; it is kept in .temper/bench.json either way`;

/** @returns whether there is something to do: false when only help was asked for */
function wanted(args) {
  const options = { quick: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } };
  try {
    return !parseArgs({ args, options }).values.help;
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
}

async function compileBench() {
  const tsc = path.join(modules, 'typescript', 'bin', 'tsc');
  const answer = await run(process.execPath, [tsc, '-p', 'tsconfig.bench.json'], { cwd: root });
  if (!answer.ok) throw new Stop(`bench cannot be compiled:\n${answer.output}`);
  return path.join(workDir, 'bench', 'bench', 'index.js');
}

main(async () => {
  const args = process.argv.slice(2);
  if (!wanted(args)) return void process.stdout.write(`${usage}\n`);
  await setUp();
  const program = await timed('compiling bench', compileBench);
  return withThrowAwaySystem('bench', [program, ...args], { rackSize: 0, seed: false });
});
