/** What runs is built from src when src is newer: JavaScript and data files in dist, and the workflow bundle. */

const fs = require('node:fs');
const path = require('node:path');
const { filesOf, fingerprint, readStamp } = require('./fingerprint');
const { builtTools, bundle, dist, locks, modules, root, writeFile } = require('./paths');
const { run } = require('./run');
const { Stop, say, timed } = require('./say');
const { withLock } = require('./lock');

const source = path.join(root, 'src');
const stamp = path.join(dist, '.stamp');
const toolsStamp = path.join(builtTools, '.stamp');
const toolFolders = ['emulator', 'demo', 'tools', 'bench', 'test/chaos'].map((name) => path.join(root, name));
const configs = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].map((name) => path.join(root, name));
const workflows = path.join(dist, 'workflows', 'index.js');

/** Makes sure that dist and the bundle are what src says. */
async function ensureBuild() {
  await withLock(path.join(locks, 'build'), 'building', async () => {
    const wanted = fingerprint([source, ...configs]);
    if (readStamp(stamp) !== wanted) await timed('building src to dist', () => compile(wanted));
    await bundleWorkflows();
  });
}

/** Makes sure that the emulator, the demo and the other programs beside the product are built as their sources say. */
async function ensureTools() {
  await withLock(path.join(locks, 'build'), 'building', async () => {
    const config = path.join(root, 'tsconfig.tools.json');
    const wanted = fingerprint([source, ...toolFolders, ...configs, config]);
    if (readStamp(toolsStamp) === wanted) return;
    await timed('building the emulator and the tools', async () => {
      fs.rmSync(builtTools, { recursive: true, force: true });
      await typescript('tsconfig.tools.json', (ok) => ok && writeFile(toolsStamp, wanted));
    });
  });
}

/** A build goes through with wrong types, as long as it can be run; `npm run verify` is where types are refused. */
async function compile(wanted) {
  await typescript('tsconfig.build.json', (ok) => {
    copyData();
    dropStale();
    if (ok) writeFile(stamp, wanted);
  });
}

/** @param {(ok: boolean) => void} built called once the JavaScript is there; `ok` is whether its types are right */
async function typescript(config, built) {
  const tsc = path.join(modules, 'typescript', 'bin', 'tsc');
  const answer = await run(process.execPath, [tsc, '-p', config], { cwd: root });
  const wrong = answer.output.split('\n').filter((line) => line.includes('error TS'));
  if (!answer.ok && wrong.length === 0) throw new Stop(`tsc failed: ${answer.reason}`);
  if (wrong.length > 0) say(`${wrong.length} type errors, the first is: ${wrong[0]}`);
  built(answer.ok);
}

/** Files that tsc leaves alone (SQL migrations, tables in JSON and YAML) go to the same place in dist. */
function copyData() {
  for (const file of filesOf([source]).filter((name) => !/\.tsx?$/.test(name))) {
    const target = path.join(dist, path.relative(source, file));
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.copyFileSync(file, target);
  }
}

/** What was built from a file that is gone must not go on working. */
function dropStale() {
  const origins = (file) =>
    ['.ts', '.tsx'].map((end) => path.join(source, path.relative(dist, file)).replace(/\.js(\.map)?$/, end));
  const ours = filesOf([dist]).filter((file) => path.dirname(file) !== dist || /\.js(\.map)?$/.test(file));
  for (const file of ours) {
    const verbatim = path.join(source, path.relative(dist, file));
    if (file.startsWith(bundle) || [...origins(file), verbatim].some((one) => fs.existsSync(one))) continue;
    fs.rmSync(file);
  }
  for (const folder of fs
    .readdirSync(dist, { recursive: true })
    .map((inner) => path.join(dist, String(inner)))
    .reverse())
    if (fs.statSync(folder).isDirectory() && fs.readdirSync(folder).length === 0) fs.rmdirSync(folder);
}

/** Bundled in a process of its own: the bundler's memory is not kept by whoever needs the bundle. */
async function bundleWorkflows() {
  if (!fs.existsSync(workflows)) return;
  const stampFile = `${bundle}.stamp`;
  const inputs = ['workflows', 'model', 'activities'].map((room) => path.join(dist, room));
  const wanted = fingerprint([...inputs, path.join(root, 'package-lock.json')]);
  if (fs.existsSync(bundle) && readStamp(stampFile) === wanted) return;
  await timed('bundling workflows', async () => {
    const answer = await run(process.execPath, [path.join(__dirname, 'bundle-workflows.js'), workflows, bundle]);
    if (!answer.ok) throw new Stop(`The workflows cannot be bundled:\n${answer.output}`);
  });
  writeFile(stampFile, wanted);
}

module.exports = { ensureBuild, ensureTools };
