/** `npm run verify`: format and lint, types, and whether the generated files are what their tables say, whether anything is dead. */

require('./lib/node-version');
const fs = require('node:fs');
const path = require('node:path');
const { bin, modules, root } = require('./lib/paths');
const { main, say } = require('./lib/say');
const { run } = require('./lib/run');
const { setUp } = require('./lib/setup');

const { include: typed } = require('../tsconfig.json');

const checks = {
  'format and lint': [path.join(modules, '@biomejs', 'biome', 'bin', 'biome'), 'ci'],
  'promises and switches': [path.join(modules, 'oxlint', 'bin', 'oxlint'), '--type-aware', ...typed, 'scripts'],
  types: [path.join(modules, 'typescript', 'bin', 'tsc'), '-p', '.'],
  'types of scripts': [path.join(modules, 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.scripts.json'],
  'no dead exports, no unused packages': [path.join(modules, 'knip', 'bin', 'knip.js')],
  'generated files (npm run gen mends them)': [bin('gen'), '--check'],
};

/** @returns whether there is nothing to mend */
async function check(name, program) {
  if (!fs.existsSync(program[0])) {
    say(`missing: ${name}: there is no ${path.relative(root, program[0])}`);
    return true;
  }
  const { ok, output } = await run(process.execPath, program, { cwd: root });
  if (!ok) process.stdout.write(output);
  say(`${ok ? 'right' : 'WRONG'}: ${name}`);
  return ok;
}

main(async () => {
  await setUp();
  // At once: each says what it found when it has ended.
  const passed = await Promise.all(Object.entries(checks).map(([name, program]) => check(name, program)));
  return passed.every(Boolean) ? 0 : 1;
});
