/** `npm run bench`: compiles bench and runs it against a system of its own; arguments go to bench. */

require('./lib/node-version');
const path = require('node:path');
const { main, Stop, timed } = require('./lib/say');
const { modules, root, workDir } = require('./lib/paths');
const { run } = require('./lib/run');
const { setUp } = require('./lib/setup');
const { withThrowAwaySystem } = require('./lib/throw-away');

async function compileBench() {
  const tsc = path.join(modules, 'typescript', 'bin', 'tsc');
  const answer = await run(process.execPath, [tsc, '-p', 'tsconfig.bench.json'], { cwd: root });
  if (!answer.ok) throw new Stop(`bench cannot be compiled:\n${answer.output}`);
  return path.join(workDir, 'bench', 'bench', 'index.js');
}

main(async () => {
  await setUp();
  const program = await timed('compiling bench', compileBench);
  return withThrowAwaySystem('bench', [program, ...process.argv.slice(2)], { rackSize: 0, seed: false });
});
