/**
 * Go, for the clients that are written in it: the program of test/clients/go, built once per set of its files. As a
 * program it prints `{"clients": path, "library": path}` or `{"missing": reason}`.
 */

const fs = require('node:fs');
const path = require('node:path');
const { cacheDir, root, writeFile } = require('./paths');
const { fingerprint } = require('./fingerprint');
const { run } = require('./run');
const { withLock } = require('./lock');
const { tell } = require('./told');

const source = path.join(root, 'test', 'clients', 'go');
const library = 'github.com/gophercloud/gophercloud/v2';

/**
 * Makes sure that the program is built.
 * @returns {Promise<{clients: string, library: string}>} its path, and the folder of the library it is built on
 * @throws Error that says why it cannot be
 */
async function ensureGoClients() {
  const dir = cacheDir('go-clients', fingerprint([source], process.arch).slice(0, 16));
  const built = () => (fs.existsSync(path.join(dir, 'built.json')) ? readBuilt(dir) : undefined);
  return (
    built() ??
    withLock(`${dir}.lock`, 'building the clients written in Go', async () => {
      if (!built()) await build(dir);
      return built();
    })
  );
}

const readBuilt = (dir) => {
  const told = JSON.parse(fs.readFileSync(path.join(dir, 'built.json'), 'utf8'));
  // A cache of modules that was emptied takes the library along.
  return fs.existsSync(told.library) ? told : undefined;
};

async function build(dir) {
  fs.rmSync(dir, { recursive: true, force: true });
  fs.mkdirSync(dir, { recursive: true });
  await go('version');
  const clients = path.join(dir, 'clients');
  await go('build', '-trimpath', '-mod=readonly', '-buildvcs=false', '-o', clients, '.');
  const found = await go('list', '-m', '-f', '{{.Dir}}', library);
  writeFile(path.join(dir, 'built.json'), JSON.stringify({ clients, library: found.trim() }));
}

async function go(...args) {
  const env = { ...process.env, CGO_ENABLED: '0' };
  const answer = await run('go', args, { cwd: source, env, timeoutMs: 900_000 });
  if (!answer.ok) throw new Error(`go ${args[0]}: ${answer.reason}`);
  return answer.output;
}

if (require.main === module) tell(ensureGoClients());

module.exports = { ensureGoClients };
