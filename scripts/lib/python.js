/** Python, for what exists only there: the OpenStack clients that the tests drive, in an environment of their own. */

const fs = require('node:fs');
const path = require('node:path');
const { cacheDir, root } = require('./paths');
const { fingerprint } = require('./fingerprint');
const { run } = require('./run');
const { timed } = require('./say');
const { withLock } = require('./lock');

const requirements = path.join(root, 'test', 'clients', 'requirements.txt');

/** What the frozen clients need. */
const clientsNeed = '3.11';

/** Command of a Python of at least the given version; throws what was tried. */
async function findPython(oldest) {
  const tried = [];
  for (const command of [process.env.TEMPER_PYTHON, 'python3', 'python'].filter(Boolean)) {
    const test = `import sys; assert sys.version_info >= (${oldest.replace('.', ', ')}), sys.version; print(sys.version)`;
    const answer = await run(command, ['-c', test], { timeoutMs: 20_000 });
    if (answer.ok) return command;
    tried.push(`${command}: ${answer.reason}`);
  }
  throw new Error(
    `Python ${oldest} or newer is needed (${tried.join('; ')}); install it or name one with TEMPER_PYTHON`,
  );
}

/** Where the clients are, or would be: one environment per set of pinned versions, shared by all checkouts. */
const clientsDir = () => cacheDir('clients', fingerprint([requirements], process.arch).slice(0, 16));

const binOf = (dir) => path.join(dir, process.platform === 'win32' ? 'Scripts' : 'bin');

/** Folder of the clients' commands if they are installed, else undefined. */
function clientsBin() {
  return fs.existsSync(path.join(clientsDir(), '.complete')) ? binOf(clientsDir()) : undefined;
}

/** Makes sure that the clients are installed; answers with the folder of their commands. */
async function ensureClients() {
  const dir = clientsDir();
  return (
    clientsBin() ??
    withLock(`${dir}.lock`, 'installing the OpenStack clients', async () => {
      if (!clientsBin()) await timed('installing the OpenStack clients (Python)', () => install(dir));
      return binOf(dir);
    })
  );
}

async function install(dir) {
  const python = await findPython(clientsNeed);
  fs.rmSync(dir, { recursive: true, force: true });
  await must(python, ['-m', 'venv', dir]);
  const limits = ['--timeout', '30', '--retries', '2', '--disable-pip-version-check'];
  await must(path.join(binOf(dir), 'python'), ['-m', 'pip', 'install', '--quiet', ...limits, '-r', requirements]);
  fs.writeFileSync(path.join(dir, '.complete'), '');
}

async function must(command, args) {
  const answer = await run(command, args, { timeoutMs: 900_000 });
  if (!answer.ok) throw new Error(`${path.basename(command)} ${args.slice(0, 3).join(' ')}: ${answer.reason}`);
}

module.exports = { clientsBin, ensureClients, findPython };
