/** A Debian package of what runs in production: the same bytes from the same commit, wherever and whenever it is made. */

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { filesOf } = require('./fingerprint');
const { dist, modules, root, temporaryDir } = require('./paths');
const { run } = require('./run');
const { Stop } = require('./say');

const { name, version } = require('../../package.json');

const architectures = {
  x64: { debian: 'amd64', engine: 'x86_64-unknown-linux-gnu' },
  arm64: { debian: 'arm64', engine: 'aarch64-unknown-linux-gnu' },
};

const home = 'usr/lib/temper';
const documents = 'usr/share/doc/temper';

/** Settings by the file of the process that reads them: what compose decides by itself, a host of its own has to be told. */
const storeLines = (role) => `
# Where Postgres is.
TEMPER_DATABASE_URL=postgres://${role}:PASSWORD@127.0.0.1:5432/temper
`;
const hostLines = (role) => `${storeLines(role)}
# Where Temporal is.
#TEMPER_TEMPORAL_ADDRESS=127.0.0.1:7233
#TEMPER_TEMPORAL_NAMESPACE=temper
`;

const addedLines = {
  shared: '',
  api: hostLines('temper_api'),
  control: hostLines('temper_control'),
  bmc: hostLines('temper_bmc'),
  boot: storeLines('temper_boot'),
  console: '\n# Where the API is.\nTEMPER_CONSOLE_API_URL=http://127.0.0.1:6385\n',
  migrate: `${hostLines('temper_owner')}
# The passwords that it gives the roles of the other processes; a role without one is made without login.
#TEMPER_API_DB_PASSWORD=
#TEMPER_CONTROL_DB_PASSWORD=
#TEMPER_BMC_DB_PASSWORD=
#TEMPER_BOOT_DB_PASSWORD=
`,
};

/** An example written for compose as the file of a host: /etc/temper is where its files are. */
const settingsFile = (process) =>
  fs
    .readFileSync(path.join(root, 'deploy', 'env', `${process}.env.example`), 'utf8')
    .replaceAll('/etc/temper/', '/etc/temper/files/')
    .replaceAll('deploy/files', '/etc/temper/files')
    .replace(/Copy to [\w.]+ and fill in; |Copy to [\w.]+; /, 'Fill in; ')
    .replaceAll('docs/settings.md', '/usr/share/doc/temper/settings.md')
    .replaceAll('docs/boot.md', '/usr/share/doc/temper/boot.md')
    .replaceAll('npm run temper --', 'temper') + addedLines[process];

/** Of a package of others: neither what it is compiled from nor what only an editor or a debugger reads. */
const unneeded = /\.(?:d\.[cm]?ts|[cm]?ts|tsx|map|markdown)$|^(?:README|CHANGELOG|HISTORY)[^/]*$/i;

/** Folders of the engine's client: its source in Rust, and its binaries for other systems. */
const unneededOfEngine = ({ engine }) => [
  ...['sdk-core', 'src', 'bridge-macros', 'scripts', 'ts'],
  ...fs
    .readdirSync(path.join(modules, '@temporalio', 'core-bridge', 'releases'))
    .filter((release) => release !== engine)
    .map((release) => path.join('releases', release)),
];

/** Folders of the packages that production needs, as npm tells them. @returns {Promise<string[]>} relative to the checkout */
async function productionModules() {
  const told = await run('npm', ['ls', '--all', '--parseable', '--omit=dev', '--loglevel=silent'], { cwd: root });
  const found = told.output.split('\n').filter((line) => line.startsWith(`${modules}${path.sep}`));
  if (found.length < 50) throw new Stop(`npm does not tell which packages production needs: ${told.reason}`);
  return [...new Set(found.map((folder) => path.relative(root, folder)))].sort();
}

/** Copies a package without the packages inside it, which are told by themselves. */
function copyModule(folder, target, leftOut) {
  const from = path.join(root, folder);
  const left = leftOut.map((inner) => path.join(from, inner));
  fs.cpSync(from, path.join(target, folder), {
    recursive: true,
    filter: (file) => {
      const inner = path.relative(from, file);
      return (
        !inner.split(path.sep).includes('node_modules') && !left.includes(file) && !unneeded.test(path.basename(file))
      );
    },
  });
}

const put = (file, text) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};

/** Manifest and lock without what is for development: `npm sbom --omit=dev` leaves out what both need. */
function productionLock(folder) {
  const read = (file) => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'));
  const { devDependencies: _, ...manifest } = read('package.json');
  const { packages, ...lock } = read('package-lock.json');
  const { devDependencies: __, ...own } = packages[''];
  const kept = Object.entries(packages).filter(([place, { dev }]) => place && !dev);
  put(path.join(folder, 'package.json'), JSON.stringify(manifest));
  put(
    path.join(folder, 'package-lock.json'),
    JSON.stringify({ ...lock, packages: { '': own, ...Object.fromEntries(kept) } }),
  );
}

/** Of what the lock names, what is packed: packages for other systems are not. */
function packedOnly(bill, tree) {
  const placeOf = ({ properties = [] }) => properties.find((one) => one.name === 'cdx:npm:package:path')?.value;
  const components = bill.components.filter((one) => fs.existsSync(path.join(tree, home, placeOf(one) ?? '')));
  const refs = new Set([bill.metadata.component, ...components].map((one) => one['bom-ref']));
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  return { ...bill, components, dependencies };
}

/**
 * What is in it, as CycloneDX; npm writes it, and what differs from one time to the next is made from the rest.
 * @param {string} tree where the packages are
 * @param {number} epoch seconds
 */
async function billOfMaterials(tree, epoch) {
  const folder = temporaryDir('sbom');
  productionLock(folder);
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=silent'];
  const told = await run('npm', args, { cwd: folder });
  fs.rmSync(folder, { recursive: true });
  if (!told.ok) throw new Stop(`npm does not write the bill of materials: ${told.reason}`);
  const bill = packedOnly(JSON.parse(told.output.slice(told.output.indexOf('{'))), tree);
  bill.metadata.timestamp = new Date(epoch * 1000).toISOString();
  Object.assign(bill.metadata.component, { name, version });
  delete bill.metadata.tools;
  delete bill.serialNumber;
  const hex = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
  // A UUID of version 8, whose bits are the writer's own: https://www.rfc-editor.org/rfc/rfc9562#section-5.8
  bill.serialNumber = `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** What the product is made of: its programs, and the packages they need. */
async function putPrograms(tree, architecture) {
  const target = path.join(tree, home);
  const ours = (file) => path.basename(file) !== '.stamp' && !file.endsWith('.stamp');
  fs.cpSync(dist, path.join(target, 'dist'), { recursive: true, filter: ours });
  for (const file of ['package.json', 'LICENSE']) fs.copyFileSync(path.join(root, file), path.join(target, file));
  for (const folder of await productionModules())
    copyModule(folder, target, folder.endsWith('core-bridge') ? unneededOfEngine(architecture) : []);
  const link = path.join(tree, 'usr/bin/temper');
  fs.mkdirSync(path.dirname(link), { recursive: true });
  fs.symlinkSync('../lib/temper/dist/bin/temper.js', link);
  fs.chmodSync(path.join(target, 'dist/bin/temper.js'), 0o755);
}

/** What the system reads: units, users, settings, documents. */
async function putRest(tree, epoch) {
  const units = path.join(root, 'deploy', 'systemd');
  const places = { '.sysusers': 'usr/lib/sysusers.d/temper.conf', '.tmpfiles': 'usr/lib/tmpfiles.d/temper.conf' };
  for (const file of fs.readdirSync(units))
    put(
      path.join(tree, places[path.extname(file)] ?? path.join('usr/lib/systemd/system', file)),
      fs.readFileSync(path.join(units, file)),
    );
  for (const process of Object.keys(addedLines))
    put(path.join(tree, 'etc/temper', `${process}.env`), settingsFile(process));
  for (const page of fs.readdirSync(path.join(root, 'docs')).filter((file) => file.endsWith('.md')))
    put(path.join(tree, documents, page), fs.readFileSync(path.join(root, 'docs', page)));
  for (const folder of ['policies', 'prometheus', 'grafana', 'temporal'])
    fs.cpSync(path.join(root, 'deploy', folder), path.join(tree, documents, folder), { recursive: true });
  put(path.join(tree, documents, 'copyright'), fs.readFileSync(path.join(root, 'deploy/debian/copyright')));
  put(path.join(tree, documents, 'sbom.cdx.json'), await billOfMaterials(tree, epoch));
}

/** Rights that do not come from the umask of the builder, and one time for everything. */
function plain(tree, epoch) {
  for (const inner of ['', ...fs.readdirSync(tree, { recursive: true }).map(String)]) {
    const file = path.join(tree, inner);
    const stat = fs.lstatSync(file);
    if (!stat.isSymbolicLink()) fs.chmodSync(file, rightsOf(inner, stat));
    fs.lutimesSync(file, epoch, epoch);
  }
}

/** Settings hold keys, and are read by systemd alone. */
function rightsOf(inner, stat) {
  if (stat.isDirectory()) return 0o755;
  if (inner.startsWith('etc/temper/')) return 0o600;
  return stat.mode & 0o100 ? 0o755 : 0o644;
}

/** The part that dpkg reads itself. */
function putControl(tree, values) {
  const folder = path.join(tree, 'DEBIAN');
  const recipe = path.join(root, 'deploy', 'debian');
  const bytes = filesOf([tree]).reduce((sum, file) => sum + fs.lstatSync(file).size, 0);
  const known = { ...values, size: String(Math.ceil(bytes / 1024)) };
  put(
    path.join(folder, 'control'),
    fs.readFileSync(path.join(recipe, 'control'), 'utf8').replace(/\$\{(\w+)\}/g, (_, key) => known[key]),
  );
  const settings = Object.keys(addedLines).map((process) => `/etc/temper/${process}.env\n`);
  put(path.join(folder, 'conffiles'), settings.join(''));
  for (const script of ['postinst', 'prerm', 'postrm']) {
    fs.copyFileSync(path.join(recipe, script), path.join(folder, script));
    fs.chmodSync(path.join(folder, script), 0o755);
  }
}

/**
 * Makes the package of what is built in `dist`.
 * @param {string} out folder
 * @param {{epoch: number, revision: string}} of `epoch` is the commit's time in seconds, `revision` what follows the version
 * @returns {Promise<string>} the file
 * @throws Stop where the system lacks what it takes
 */
async function makePackage(out, { epoch, revision }) {
  const architecture = architectures[process.arch];
  if (process.platform !== 'linux' || !architecture)
    throw new Stop('The package can be made on Linux alone, on x86_64 or arm64.');
  const work = temporaryDir('package');
  const tree = path.join(work, 'tree');
  try {
    await putPrograms(tree, architecture);
    await putRest(tree, epoch);
    const full = `${version}${revision}`;
    putControl(tree, { version: full, architecture: architecture.debian });
    plain(tree, epoch);
    fs.mkdirSync(out, { recursive: true });
    const file = path.join(out, `temper_${full}_${architecture.debian}.deb`);
    const made = await run('dpkg-deb', ['-Zgzip', '--root-owner-group', '--build', tree, file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch), LC_ALL: 'C' },
    });
    if (!made.ok) throw new Stop(`dpkg-deb does not make the package: ${made.reason}`);
    return file;
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

module.exports = { makePackage };
