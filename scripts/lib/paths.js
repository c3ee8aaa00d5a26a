/** Where things are: the checkout, what is built, what is kept between runs, and the user's cache. */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const root = path.resolve(__dirname, '..', '..');

/** The checkout's own work folder: locks and, unless told otherwise, the data of `npm start`. */
const workDir = path.join(root, '.temper');

const paths = {
  root,
  workDir,
  locks: path.join(workDir, 'locks'),
  modules: path.join(root, 'node_modules'),
  dist: path.join(root, 'dist'),
  bundle: path.join(root, 'dist', 'workflow-bundle.js'),
  builtTools: path.join(workDir, 'tools'),
  tools: path.join(root, 'tools', 'temporal'),
};

/** Programs that are no part of the product, and where `npm run` finds each once it is built. */
const toolPrograms = {
  bench: 'bench/index.js',
  chaos: 'test/chaos/main.js',
  demo: 'demo/index.js',
  'demo-identity': 'emulator/identity-process.js',
  gen: 'tools/gen/index.js',
  rack: 'emulator/rack-process.js',
  seed: 'demo/seed-process.js',
  site: 'tools/site/index.js',
};

/** The compiled entry point of a process or one-shot: `bin('api')` is `dist/bin/api.js`. */
const bin = (name) =>
  Object.hasOwn(toolPrograms, name)
    ? path.join(paths.builtTools, toolPrograms[name])
    : path.join(paths.dist, 'bin', `${name}.js`);

/** Per-user cache, shared by all checkouts. */
const cacheDir = (...parts) =>
  path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'temper', ...parts);

/**
 * The data folder of `npm start`. Others may pass through it (711), because PostgreSQL runs as another user when
 * started by root; every file in it that holds a secret is readable by its owner only.
 */
function dataDir(given) {
  const dir = path.resolve(given || process.env.TEMPER_DATA_DIR || path.join(workDir, 'data'));
  fs.mkdirSync(dir, { recursive: true, mode: 0o711 });
  return dir;
}

/** A fresh folder in the system's temporary folder, passable like the data folder. */
function temporaryDir(purpose) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), `temper-${purpose}-`));
  fs.chmodSync(dir, 0o711);
  return dir;
}

/** Writes a file so that a reader sees the old or the new text, never half of one. */
function writeFile(file, text, mode = 0o644) {
  const partial = `${file}.${process.pid}.partial`;
  fs.writeFileSync(partial, text, { mode });
  fs.renameSync(partial, file);
}

/** The parsed JSON of a file, or `otherwise` when there is none or it is broken. */
function readJson(file, otherwise) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return otherwise;
  }
}

module.exports = { ...paths, bin, cacheDir, dataDir, readJson, temporaryDir, writeFile };
