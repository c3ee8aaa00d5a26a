/** Packages for Debian and for RPM of what runs in production: the same bytes from the same commit, wherever and whenever it is made. */

const fs = require('node:fs');
const path = require('node:path');
const { ensureGo } = require('./go');
const { root, temporaryDir } = require('./paths');
const { billOfMaterials, putPrograms } = require('./programs');
const { run } = require('./run');
const { Stop } = require('./say');

const { version } = require('../../package.json');

const architectures = { x64: { deb: 'amd64', rpm: 'x86_64' }, arm64: { deb: 'arm64', rpm: 'aarch64' } };

const home = 'usr/lib/temper';
const documents = 'usr/share/doc/temper';

/** Settings by the file of the process that reads them: what compose decides by itself, a host of its own has to be told. */
const storeLines = (role) => `
# PostgreSQL, as the role of this process.
TEMPER_DATABASE_URL=postgres://${role}:PASSWORD@127.0.0.1:5432/temper
`;
const hostLines = (role) => `${storeLines(role)}
# Temporal's frontend.
TEMPER_TEMPORAL_ADDRESS=127.0.0.1:7233
#TEMPER_TEMPORAL_NAMESPACE=temper
`;

const addedLines = {
  shared: `
# Address at which processes serve /readyz and /metrics. A balancer or a Prometheus on another host needs one of this host.
#TEMPER_HEALTH_HOST=127.0.0.1
`,
  api: `${hostLines('temper_api')}
# Address of the API. A balancer on another host needs one of this host.
#TEMPER_API_HOST=127.0.0.1
`,
  control: hostLines('temper_control'),
  bmc: hostLines('temper_bmc'),
  boot: `${storeLines('temper_boot')}
# Address of the boot service, which BMCs and nodes must reach.
#TEMPER_BOOT_HOST=0.0.0.0
`,
  console: `
# The API, as the console reaches it.
TEMPER_CONSOLE_API_URL=http://127.0.0.1:6385
# Address of the console. A balancer on another host needs one of this host.
#TEMPER_CONSOLE_HOST=127.0.0.1
`,
  notifications: storeLines('temper_notifications'),
  migrate: `${hostLines('temper_owner')}
# Passwords of the roles of the other processes. A role without one cannot log in.
TEMPER_API_DB_PASSWORD=
TEMPER_CONTROL_DB_PASSWORD=
TEMPER_BMC_DB_PASSWORD=
TEMPER_BOOT_DB_PASSWORD=
TEMPER_NOTIFICATIONS_DB_PASSWORD=
`,
};

/** An example written for compose as the file of a host: /etc/temper is where its files are. */
const settingsFile = (process) =>
  fs
    .readFileSync(path.join(root, 'deploy', 'env', `${process}.env.example`), 'utf8')
    .replaceAll(', which containers see as /etc/temper', '')
    .replaceAll('/etc/temper/', '/etc/temper/files/')
    .replaceAll('deploy/files', '/etc/temper/files')
    .replace(/Copy to [\w.]+ and fill in; |Copy to [\w.]+; /, 'Fill in; ')
    .replaceAll(/\bdocs\/([\w-]+\.md)/g, `/${documents}/$1`)
    .replaceAll('npm run temper --', 'temper') + addedLines[process];

const put = (file, text) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};

/** `temper` as a command of the system. */
function putCommand(tree) {
  const link = path.join(tree, 'usr/bin/temper');
  fs.mkdirSync(path.dirname(link), { recursive: true });
  fs.symlinkSync('../lib/temper/dist/bin/temper.js', link);
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
  put(path.join(tree, documents, 'copyright'), fs.readFileSync(path.join(root, 'deploy/package/copyright')));
  put(path.join(tree, documents, 'sbom.cdx.json'), await billOfMaterials(path.join(tree, home), epoch));
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

/** What nfpm reads. */
const recipeOf = (values) =>
  fs.readFileSync(path.join(root, 'deploy/package/nfpm.yaml'), 'utf8').replace(/\$\{(\w+)\}/g, (_, key) => values[key]);

/** Names of files as the tools of each system write them. */
const fileNames = {
  deb: (full) => `temper_${full}_${architectures[process.arch].deb}.deb`,
  rpm: (full) => `temper-${full}-1.${architectures[process.arch].rpm}.rpm`,
};

/**
 * Makes the package of what is built in `dist`.
 * @param {'deb' | 'rpm'} kind
 * @param {string} out folder
 * @param {{epoch: number, revision: string}} of `epoch` is the commit's time in seconds, `revision` what follows the version
 * @returns {Promise<string>} the file
 * @throws Stop where the system lacks what it takes
 */
async function makePackage(kind, out, { epoch, revision }) {
  const architecture = architectures[process.arch];
  if (process.platform !== 'linux' || !architecture)
    throw new Stop('The package can be made on Linux alone, on x86_64 or arm64.');
  const nfpm = await ensureGo('nfpm').catch(({ message }) => {
    throw new Stop(`nfpm makes the package, and cannot be built: ${message}`);
  });
  const work = temporaryDir('package');
  const tree = path.join(work, 'tree');
  try {
    await putPrograms(path.join(tree, home));
    putCommand(tree);
    await putRest(tree, epoch);
    plain(tree, epoch);
    const full = `${version}${revision}`;
    const recipe = path.join(work, 'nfpm.yaml');
    put(recipe, recipeOf({ tree, version: full, architecture: architecture.deb }));
    fs.mkdirSync(out, { recursive: true });
    const file = path.join(out, fileNames[kind](full));
    const made = await run(nfpm.program, ['package', '--config', recipe, '--packager', kind, '--target', file], {
      cwd: root,
      env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    });
    if (!made.ok) throw new Stop(`nfpm does not make the package: ${made.reason}`);
    return file;
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

module.exports = { makePackage, settingsFile, settingsFiles: Object.keys(addedLines) };
