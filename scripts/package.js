/** `npm run package`: a Debian package of the commit that is checked out. */

require('./lib/node-version');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { ensureBuild } = require('./lib/build');
const { makePackage } = require('./lib/package');
const { root, workDir } = require('./lib/paths');
const { run } = require('./lib/run');
const { main, Stop, timed } = require('./lib/say');
const { setUp } = require('./lib/setup');

const usage = `npm run package -- [--out DIR]
  --out DIR  where the package goes (default .temper/package)
  SOURCE_DATE_EPOCH in the environment is the time of everything in it, in seconds; without it the commit's`;

/** @returns {{out: string} | undefined} undefined when only help was asked for */
function options(args) {
  try {
    const { values } = parseArgs({ args, options: { out: { type: 'string' }, help: { type: 'boolean' } } });
    return values.help ? undefined : { out: path.resolve(values.out ?? path.join(workDir, 'package')) };
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
}

const git = (...args) => run('git', args, { cwd: root });

/** A time and a name for what is packed. @throws Stop where the same name would come to stand for other files */
async function packed() {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given) {
    if (!/^\d+$/.test(given)) throw new Stop(`SOURCE_DATE_EPOCH is "${given}"; it must be a number of seconds.`);
    return { epoch: Number(given), revision: '' };
  }
  const last = await git('log', '-1', '--format=%ct %h');
  if (!last.ok) throw new Stop('This is no git checkout: give the time of what is packed in SOURCE_DATE_EPOCH.');
  const changed = await git('status', '--porcelain');
  if (changed.output.trim())
    throw new Stop(`A package is made of a commit, and these files are not committed:\n${changed.output.trimEnd()}`);
  const [epoch, commit] = last.output.trim().split(' ');
  const day = new Date(Number(epoch) * 1000).toISOString().slice(0, 19).replace(/\D/g, '');
  return { epoch: Number(epoch), revision: `+git${day}.${commit}` };
}

main(async () => {
  const chosen = options(process.argv.slice(2));
  if (!chosen) return void process.stdout.write(`${usage}\n`);
  const what = await packed();
  await setUp();
  await ensureBuild();
  const file = await timed('making the package', () => makePackage(chosen.out, what));
  process.stdout.write(`${createHash('sha256').update(fs.readFileSync(file)).digest('hex')}  ${file}\n`);
});
