/**
 * What runs in production, for the Debian package and the container image: the same files from the same commit. As a program
 * (`node scripts/lib/programs.js DIR`) it builds and puts them into a folder, with their bill of materials.
 */

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { dist, modules, root, temporaryDir } = require('./paths');
const { run } = require('./run');
const { main, Stop } = require('./say');

const { name, version } = require('../../package.json');

/** Names of the engine's client for its binaries. */
const engines = { x64: 'x86_64-unknown-linux-gnu', arm64: 'aarch64-unknown-linux-gnu' };

/** Of a package of others: neither what it is compiled from nor what only an editor or a debugger reads. */
const unneeded = /\.(?:d\.[cm]?ts|[cm]?ts|tsx|map|markdown)$|^(?:README|CHANGELOG|HISTORY)[^/]*$/i;

/** Folders of the engine's client: its source in Rust, and its binaries for other systems. */
const unneededOfEngine = () => [
  ...['sdk-core', 'src', 'bridge-macros', 'scripts', 'ts'],
  ...fs
    .readdirSync(path.join(modules, '@temporalio', 'core-bridge', 'releases'))
    .filter((release) => release !== engines[process.arch])
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

/** Manifest and lock without what is for development: `npm sbom --omit=dev` leaves out what both need. */
function productionLock(folder) {
  const read = (file) => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'));
  const { devDependencies: _, ...manifest } = read('package.json');
  const { packages, ...lock } = read('package-lock.json');
  const { devDependencies: __, ...own } = packages[''];
  const kept = Object.entries(packages).filter(([place, { dev }]) => place && !dev);
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  fs.writeFileSync(
    path.join(folder, 'package-lock.json'),
    JSON.stringify({ ...lock, packages: { '': own, ...Object.fromEntries(kept) } }),
  );
}

/** Of what the lock names, what is packed: packages for other systems are not. */
function packedOnly(bill, isPacked) {
  // npm names the place of a package only if it is installed.
  const placeOf = ({ name: of, properties = [] }) =>
    properties.find((one) => one.name === 'cdx:npm:package:path')?.value || `node_modules/${of}`;
  const components = bill.components.filter((one) => isPacked(placeOf(one) ?? ''));
  const refs = new Set([bill.metadata.component, ...components].map((one) => one['bom-ref']));
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  return { ...bill, components, dependencies };
}

/**
 * What is in it, as CycloneDX; npm writes it, and what differs from one time to the next is made from the rest.
 * @param {{name: string, version: string}} of what
 * @param {(folder: string) => boolean} isPacked whether the package in this folder of the checkout is in it
 * @param {number} epoch seconds
 */
async function billOf(of, isPacked, epoch) {
  const folder = temporaryDir('sbom');
  productionLock(folder);
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=silent'];
  const told = await run('npm', args, { cwd: folder });
  fs.rmSync(folder, { recursive: true });
  if (!told.ok) throw new Stop(`npm does not write the bill of materials: ${told.reason}`);
  const bill = packedOnly(JSON.parse(told.output.slice(told.output.indexOf('{'))), isPacked);
  bill.metadata.timestamp = new Date(epoch * 1000).toISOString();
  Object.assign(bill.metadata.component, { name: of.name, version: of.version });
  delete bill.metadata.tools;
  delete bill.serialNumber;
  const hex = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
  // A UUID of version 8, whose bits are the writer's own: https://www.rfc-editor.org/rfc/rfc9562#section-5.8
  bill.serialNumber = `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** Of the programs that were put into a folder. */
const billOfMaterials = (target, epoch) =>
  billOf({ name, version }, (folder) => fs.existsSync(path.join(target, folder)), epoch);

/**
 * Puts what the product is made of into a folder: its programs in `dist`, and the packages they need in `node_modules`.
 * @param {string} target folder
 * @throws Stop where npm does not tell the packages
 */
async function putPrograms(target) {
  const ours = (file) => !file.endsWith('.stamp');
  fs.cpSync(dist, path.join(target, 'dist'), { recursive: true, filter: ours });
  for (const file of ['package.json', 'LICENSE', 'NOTICE'])
    fs.copyFileSync(path.join(root, file), path.join(target, file));
  for (const folder of await productionModules())
    copyModule(folder, target, folder.endsWith('core-bridge') ? unneededOfEngine() : []);
  fs.chmodSync(path.join(target, 'dist/bin/temper.js'), 0o755);
}

if (require.main === module)
  main(async () => {
    const [target] = process.argv.slice(2);
    const epoch = process.env.SOURCE_DATE_EPOCH ?? '0';
    if (!target || !/^\d+$/.test(epoch))
      throw new Stop(
        'Usage: node scripts/lib/programs.js DIR, with SOURCE_DATE_EPOCH as a number of seconds, if at all',
      );
    await require('./build').ensureBuild();
    await putPrograms(target);
    fs.writeFileSync(path.join(target, 'sbom.cdx.json'), await billOfMaterials(target, Number(epoch)));
  });

module.exports = { billOf, billOfMaterials, productionModules, putPrograms };
