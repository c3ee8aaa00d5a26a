/** `npm run verify`: format and lint, types, and whether the generated files are what their tables say, whether anything is dead. */

require('./lib/node-version');
const fs = require('node:fs');
const path = require('node:path');
const { bin, modules, root } = require('./lib/paths');
const { main, say } = require('./lib/say');
const { run } = require('./lib/run');
const { setUp } = require('./lib/setup');

const checks = {
  'format and lint': [path.join(modules, '@biomejs', 'biome', 'bin', 'biome'), 'ci'],
  types: [path.join(modules, 'typescript', 'bin', 'tsc'), '-p', '.'],
  'no dead exports, no unused packages': [path.join(modules, 'knip', 'bin', 'knip.js')],
  'generated files (npm run gen mends them)': [bin('gen'), '--check'],
};

main(async () => {
  await setUp();
  const failed = [];
  for (const [name, program] of Object.entries(checks)) {
    if (!fs.existsSync(program[0])) {
      say(`missing: ${name}: there is no ${path.relative(root, program[0])}`);
      continue;
    }
    const { ok } = await run(process.execPath, program, { cwd: root, show: true });
    say(`${ok ? 'right' : 'WRONG'}: ${name}`);
    if (!ok) failed.push(name);
  }
  return failed.length === 0 ? 0 : 1;
});
