/**
 * `npm run mutation`: breaks the product in small ways, one at a time, and counts how many of them a test notices
 * (Stryker). Lines are drawn by a seed, so that a run takes minutes and the same one can be had again.
 */

require('./lib/node-version');
const { fork } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { bundle, root, temporaryDir } = require('./lib/paths');
const { main, say, Stop } = require('./lib/say');
const { setUp } = require('./lib/setup');
const { rooms } = require('./lib/mutation-rooms');

const usage = `npm run mutation -- [--rooms <names>] [--lines <n>] [--seed <n>] [--workers <n>] [--survivors]
  --rooms      comma-separated: ${Object.keys(rooms).join(', ')}; all when left out
  --lines      how many lines of each room are broken; 0 for every line (hours); 120 when left out
  --seed       draws other lines; 1 when left out
  --workers    how many at once; half the processors when left out
  --survivors  prints what no test noticed, and what was noticed by a test out of its time`;

function parsed(args) {
  const options = /** @type {const} */ ({
    rooms: { type: 'string', default: Object.keys(rooms).join(',') },
    lines: { type: 'string', default: '120' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(Math.max(1, os.availableParallelism() / 2)) },
    survivors: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  });
  try {
    const { values } = parseArgs({ args, options });
    const chosen = String(values.rooms).split(',');
    const unknown = chosen.find((name) => !Object.hasOwn(rooms, name));
    if (unknown) throw new Error(`there is no room ${unknown}`);
    return values.help
      ? undefined
      : {
          ...values,
          rooms: chosen,
          lines: Number(values.lines),
          seed: Number(values.seed),
          workers: Number(values.workers),
        };
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
}

/** Mulberry32: small, and the same everywhere. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const isCode = (line) =>
  /[=?:(<>!&|]/.test(line) && !/^\s*(\/\/|\/?\*|import|export \{|export type|type |\})/.test(line);

/** Which lines are broken, as Stryker's ranges. */
function drawn(files, { lines, seed }) {
  if (lines === 0) return files;
  const all = files.flatMap((file) =>
    fs
      .readFileSync(path.join(root, file), 'utf8')
      .split('\n')
      .flatMap((text, at) => (isCode(text) ? [`${file}:${at + 1}-${at + 1}`] : [])),
  );
  const next = random(seed);
  for (let at = all.length - 1; at > 0; at--) {
    const other = Math.floor(next() * (at + 1));
    [all[at], all[other]] = [all[other], all[at]];
  }
  return all.slice(0, lines);
}

async function startServers() {
  const keeper = fork(path.join(__dirname, 'lib', 'test-servers.js'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [answer] = await once(keeper, 'message');
  if (answer.failed) throw new Stop(answer.failed);
  Object.assign(process.env, answer.env);
  return async () => {
    const ended = once(keeper, 'exit');
    keeper.disconnect();
    await ended;
  };
}

/** @returns the mutants of one room, each with what became of it */
async function mutate(name, options, dir) {
  const { Stryker } = await import('@stryker-mutator/core');
  const { files, tests, except } = rooms[name];
  process.env.TEMPER_MUTATION_TESTS = JSON.stringify({ tests, except });
  process.env.TEMPER_TEST_WORKFLOW_BUNDLE = bundle;
  const stryker = new Stryker({
    testRunner: 'jest',
    plugins: ['@stryker-mutator/jest-runner', path.join(__dirname, 'lib', 'mutation-survivors.js')],
    coverageAnalysis: 'perTest',
    jest: { projectType: 'custom', configFile: 'jest.mutation.config.js', enableFindRelatedTests: false },
    mutate: drawn(files(), options),
    // A text is for people: its tests would repeat it word for word.
    mutator: { excludedMutations: ['StringLiteral'] },
    ignoreStatic: true,
    concurrency: options.workers,
    ignorePatterns: ['.temper', 'docs/images'], // not dist: some tests start processes of it
    tempDirName: path.join(dir, name),
    tsconfigFile: 'none.json', // Stryker reads it by an API that TypeScript 7 no longer has
    timeoutMS: 60_000, // on a busy machine only what never ends is to count as such
    dryRunTimeoutMinutes: 30, // of all tests of a room, with servers, on such a machine
    reporters: ['progress-append-only', ...(options.survivors ? ['survivors'] : [])],
    allowConsoleColors: false,
  });
  return stryker.runMutationTest();
}

const killed = ['Killed', 'Timeout'];
const counted = ['Killed', 'Timeout', 'Survived'];

/** Of the mutants that a test reaches: how many were noticed, and how many of these only by a test out of its time. */
function score(results) {
  const number = (...statuses) => results.filter(({ status }) => statuses.includes(status)).length;
  return {
    covered: number(...counted),
    noticed: number(...killed),
    timedOut: number('Timeout'),
    unreached: number('NoCoverage'),
  };
}

main(async () => {
  const options = parsed(process.argv.slice(2));
  if (!options) {
    console.log(usage);
    return 0;
  }
  await setUp();
  const dir = temporaryDir('mutation');
  const stop = options.rooms.some((name) => rooms[name].servers) ? await startServers() : async () => {};
  const rows = [];
  try {
    for (const name of options.rooms) {
      const results = await mutate(name, options, dir);
      rows.push({ name, ...score(results) });
    }
  } finally {
    await stop();
    fs.rmSync(dir, { recursive: true, force: true });
  }
  console.log('| room | mutants that tests reach | noticed | of these by time | score | not reached |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  for (const { name, covered, noticed, timedOut, unreached } of rows)
    console.log(
      `| ${name} | ${covered} | ${noticed} | ${timedOut} | ${((100 * noticed) / Math.max(1, covered)).toFixed(1)} % | ${unreached} |`,
    );
  const weak = rows.filter(({ covered, noticed }) => noticed < 0.9 * covered).map(({ name }) => name);
  if (weak.length > 0) say(`below 90 %: ${weak.join(', ')}`);
  return weak.length > 0 ? 1 : 0;
});
