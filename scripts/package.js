/** `npm run package`: packages of the commit that is checked out, for Debian, for RPM or of the client alone. */

require('./lib/node-version');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { ensureBuild } = require('./lib/build');
const { committed } = require('./lib/commit');
const { makeClient } = require('./lib/client');
const { makePackage } = require('./lib/package');
const { workDir } = require('./lib/paths');
const { main, Stop, timed } = require('./lib/say');
const { setUp } = require('./lib/setup');

const usage = `npm run package -- [deb|rpm|client] [--out DIR]
  deb        the Debian package of all processes and the command (default)
  rpm        the same for systems with RPM
  client     the command alone, as a package for npm and as one file for Node
  --out DIR  where the files go (default .temper/package)
  SOURCE_DATE_EPOCH in the environment is the time of everything in it, in seconds; without it the commit's`;

const makers = {
  deb: async (out, what) => [await makePackage('deb', out, what)],
  rpm: async (out, what) => [await makePackage('rpm', out, what)],
  client: makeClient,
};

/** @returns {{kind: string, out: string} | undefined} undefined when only help was asked for */
function options(args) {
  try {
    /** @type {import('node:util').ParseArgsConfig['options']} */
    const options = { out: { type: 'string' }, help: { type: 'boolean' } };
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [kind = 'deb', ...more] = positionals;
    if (!Object.hasOwn(makers, kind) || more.length > 0)
      throw new Error(`There is no package "${positionals.join(' ')}".`);
    return values.help ? undefined : { kind, out: path.resolve(String(values.out ?? path.join(workDir, 'package'))) };
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
}

main(async () => {
  const chosen = options(process.argv.slice(2));
  if (!chosen) return void process.stdout.write(`${usage}\n`);
  const what = await committed();
  await setUp();
  await ensureBuild();
  const files = await timed('making the package', () => makers[chosen.kind](chosen.out, what));
  for (const file of files)
    process.stdout.write(`${createHash('sha256').update(fs.readFileSync(file)).digest('hex')}  ${file}\n`);
});
