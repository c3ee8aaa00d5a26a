/** Python, for what exists only there: the OpenStack clients and services that the tests drive, in environments of their own. */

const fs = require('node:fs');
const path = require('node:path');
const { cacheDir, root } = require('./paths');
const { fingerprint } = require('./fingerprint');
const { run } = require('./run');
const { timed } = require('./say');
const { withLock } = require('./lock');

const requirements = path.join(root, 'test', 'clients', 'requirements.txt');

/** What the frozen versions need. */
const oldestPython = '3.11';

/** Command of a Python of at least the given version; throws what was tried. */
async function findPython(oldest) {
  const tried = [];
  const named = process.env.TEMPER_PYTHON;
  for (const command of [...(named ? [named] : []), 'python3', 'python']) {
    const test = `import sys; assert sys.version_info >= (${oldest.replace('.', ', ')}), sys.version; print(sys.version)`;
    const answer = await run(command, ['-c', test], { timeoutMs: 20_000 });
    if (answer.ok) return command;
    tried.push(`${command}: ${answer.reason}`);
  }
  throw new Error(
    `Python ${oldest} or newer is needed (${tried.join('; ')}); install it or name one with TEMPER_PYTHON`,
  );
}

const binOf = (dir) => path.join(dir, process.platform === 'win32' ? 'Scripts' : 'bin');

/** Folder of the commands of an environment that is whole, else undefined. */
const wholeBin = (dir) => (fs.existsSync(path.join(dir, '.complete')) ? binOf(dir) : undefined);

const environmentDir = (name, pinned) => cacheDir(name, fingerprint([pinned], process.arch).slice(0, 16));

/** Makes sure that the clients are installed; answers with the folder of their commands. */
const ensureClients = () => ensureEnvironment('clients', requirements, 'the OpenStack clients');

/**
 * Makes sure that what a file of pinned versions names is installed in an environment of its own in the user's cache.
 * @param {string} name folder of the cache
 * @param {string} pinned path of the file
 * @param {string} what for messages
 * @returns {Promise<string>} the folder of its commands
 */
async function ensureEnvironment(name, pinned, what) {
  const dir = environmentDir(name, pinned);
  return (
    wholeBin(dir) ??
    withLock(`${dir}.lock`, `installing ${what}`, async () => {
      if (!wholeBin(dir)) await timed(`installing ${what} (Python)`, () => install(dir, pinned));
      return binOf(dir);
    })
  );
}

async function install(dir, pinned) {
  const python = await findPython(oldestPython);
  fs.rmSync(dir, { recursive: true, force: true });
  await must(python, ['-m', 'venv', dir]);
  // Of what is installed the tests import a part; Python compiles that at its first import.
  const limits = ['--timeout', '30', '--retries', '2', '--disable-pip-version-check', '--no-compile'];
  await must(path.join(binOf(dir), 'python'), ['-m', 'pip', 'install', '--quiet', ...limits, '-r', pinned]);
  fs.writeFileSync(path.join(dir, '.complete'), '');
}

async function must(command, args) {
  const answer = await run(command, args, { timeoutMs: 900_000 });
  if (!answer.ok) throw new Error(`${path.basename(command)} ${args.slice(0, 3).join(' ')}: ${answer.reason}`);
}

module.exports = { ensureClients, ensureEnvironment, findPython };
