/**
 * Go, for the clients that are written in it, for what reads rules as Prometheus and charts as Helm does, and for nfpm: each program
 * is built once per set of its files. As a program it takes a name of `programs` and prints what `ensure...` gives, or `{"missing": reason}`.
 */

const fs = require('node:fs');
const path = require('node:path');
const { cacheDir, root, writeFile } = require('./paths');
const { fingerprint } = require('./fingerprint');
const { run } = require('./run');
const { withLock } = require('./lock');
const { tell } = require('./told');

/** A program by name: its folder, its package if that is another module's, and a library whose folder is wanted too. */
const programs = {
  clients: {
    source: path.join(root, 'test', 'clients', 'go'),
    library: 'github.com/gophercloud/gophercloud/v2',
    why: 'building the clients written in Go',
  },
  'prometheus-rules': {
    source: path.join(root, 'tools', 'prometheus'),
    library: 'github.com/prometheus/prometheus',
    why: 'building what reads rules as Prometheus does',
  },
  helm: {
    source: path.join(root, 'tools', 'helm'),
    library: 'helm.sh/helm/v3',
    why: 'building what reads charts as Helm and Kubernetes do',
  },
  nfpm: {
    source: path.join(root, 'tools', 'nfpm'),
    package: 'github.com/goreleaser/nfpm/v2/cmd/nfpm',
    library: 'github.com/goreleaser/nfpm/v2',
    why: 'building nfpm',
  },
};

/**
 * Makes sure that a program is built.
 * @param {keyof typeof programs} name
 * @returns {Promise<{program: string, library: string}>} its path, and the folder of the library it is built on
 * @throws Error that says why it cannot be
 */
async function ensureGo(name) {
  const { source, why } = programs[name];
  const dir = cacheDir(`go-${name}`, fingerprint([source], process.arch).slice(0, 16));
  const built = () => (fs.existsSync(path.join(dir, 'built.json')) ? readBuilt(dir) : undefined);
  return (
    built() ??
    withLock(`${dir}.lock`, why, async () => {
      if (!built()) await build(dir, programs[name]);
      return built();
    })
  );
}

const readBuilt = (dir) => {
  const told = JSON.parse(fs.readFileSync(path.join(dir, 'built.json'), 'utf8'));
  // A cache of modules that was emptied takes the library along; a build of an older checkout wrote other keys.
  return [told.program, told.library].every((file) => file && fs.existsSync(file)) ? told : undefined;
};

async function build(dir, { source, package: built = '.', library }) {
  fs.rmSync(dir, { recursive: true, force: true });
  fs.mkdirSync(dir, { recursive: true });
  await go(source, 'version');
  const program = path.join(dir, 'program');
  await go(source, 'build', '-trimpath', '-mod=readonly', '-buildvcs=false', '-o', program, built);
  const found = await go(source, 'list', '-m', '-f', '{{.Dir}}', library);
  writeFile(path.join(dir, 'built.json'), JSON.stringify({ program, library: found.trim() }));
}

async function go(source, ...args) {
  const env = { ...process.env, CGO_ENABLED: '0' };
  const answer = await run('go', args, { cwd: source, env, timeoutMs: 900_000 });
  if (!answer.ok) throw new Error(`go ${args[0]}: ${answer.reason}`);
  return answer.output;
}

if (require.main === module) tell(ensureGo(/** @type {keyof typeof programs} */ (process.argv[2])));

module.exports = { ensureGo };
