/** `npm run chaos`: systems of its own with an emulated rack; what they consist of is struck at the points of every verb. */

require('./lib/node-version');
const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { bin, temporaryDir } = require('./lib/paths');
const { forFaults, forPauses, forRollouts, settings } = require('./lib/chaos-settings');
const { clocksOfRound, ensureFaketime } = require('./lib/faketime');
const { run } = require('./lib/run');
const { main, Stop } = require('./lib/say');
const { setUp } = require('./lib/setup');
const { withThrowAwaySystems } = require('./lib/throw-away');

const usage = `npm run chaos -- [--pauses | --clocks ROUNDS | --lost-engine | --restores | --faults | --rollouts] [--phases] [--lanes N] [--sample N] [--minutes N]
                [--seed N] [--verbs A,B] [--victims A;B] [--nodes N] [--results FILE]
  (no kind)       each process is killed with -9
  --pauses        SIGSTOP for 10, 25, 45 and 120 s instead of kills, with two workers of each kind
  --clocks N,M    kills while the clocks of workers and API differ, rounds 0 to 5 or \`all\`, with two workers of each kind
  --lost-engine   Temporal loses all that it has stored
  --restores      Postgres, Temporal or both are set back to a backup of some seconds before
  --faults        the catalogue of misbehaving BMCs
  --rollouts      rollouts of 50 to 200 nodes while processes are killed and paused, judged by the rack's journal
  --phases        one point of each phase of a run, another one each time, instead of every point
  --lanes N       so many systems side by side, which share the work (default 1)
  --sample N      only so many points, chosen by the seed; of kills nothing is written to reports. So many rollouts (default 200),
                  of which nothing is written to reports either
  --minutes N     no further rollouts are begun after so many minutes
  --seed N        decides about order and sample (default: another one each time; it is printed)
  --verbs A,B     only these verbs; nothing is written to reports
  --victims A;B   only these columns of the table, as they are called with their seconds: 'API 45 s'
  --nodes N       how many machines each rack has (default 128; 64 for faults, 800 for rollouts)
  --results FILE  what was found is kept there, one line each, and the table is made of all that it holds; of rollouts as many are
                  begun as it lacks
  --tables HEAD   nothing is struck: the table of what FILE holds is written to reports below this line`;

/** @returns {Record<string, any> | undefined} undefined when only help was asked for */
function options(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const texts = ['sample', 'seed', 'verbs', 'victims', 'nodes', 'lanes', 'minutes', 'results', 'tables', 'clocks'];
  const flags = ['phases', 'faults', 'pauses', 'lost-engine', 'restores', 'rollouts', 'help'];
  /** @type {import('node:util').ParseArgsConfig['options']} */
  const known = Object.fromEntries([...texts.map((name) => [name, text]), ...flags.map((name) => [name, flag])]);
  try {
    const { values } = /** @type {{values: Record<string, any>}} */ (parseArgs({ args, options: known }));
    return values.help ? undefined : values;
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
}

/**
 * Which systems are up at the same time, in which order: those of a turn differ in their clocks only.
 * @param {Record<string, any>} chosen
 */
function turnsOf({ lanes = '1', clocks }) {
  const atOnce = Number(lanes);
  if (!(atOnce >= 1)) throw new Stop(`--lanes is "${lanes}"; it must be a number.\n${usage}`);
  if (!clocks) return [Array.from({ length: atOnce }, () => ({}))];
  const rounds = clocks === 'all' ? [0, 1, 2, 3, 4, 5] : clocks.split(',').map(Number);
  const systems = rounds.map((round) => ({ round: `round ${round}`, clocks: clocksOfRound(round) }));
  const turns = [];
  while (systems.length > 0) turns.push(systems.splice(0, atOnce));
  return turns;
}

async function turn(systems, args, { rackSize, rollouts }) {
  // A worker that is killed has another one beside it, or leaves all its work to be begun again.
  const workersOf = (at) => (rollouts ? { workers: 2 - (at % 2) } : {});
  const each = systems.map(({ clocks }, at) => ({ rackSize, seed: false, clocks, ...workersOf(at) }));
  return withThrowAwaySystems('chaos', each, async (ups) => {
    const places = ups.map(({ visitor, migrate }, at) => ({
      file: visitor.TEMPER_SYSTEM_FILE,
      migrate,
      ...(systems[at].round && { round: systems[at].round }),
    }));
    return (await chaos(places, args)) ?? 1;
  });
}

/** Runs the program on systems that are up. */
async function chaos(places, args) {
  const env = { ...process.env, CHAOS_PLACES: JSON.stringify(places) };
  return (await run(process.execPath, [bin('chaos'), ...args], { show: true, env })).status;
}

main(async () => {
  const args = process.argv.slice(2);
  const chosen = options(args);
  if (!chosen) return void process.stdout.write(`${usage}\n`);
  await setUp();
  if (chosen.tables) return (await chaos([], args)) ?? 1;
  Object.assign(
    process.env,
    settings,
    chosen.faults ? forFaults : {},
    chosen.rollouts ? forRollouts : {},
    chosen.pauses ? forPauses : {},
  );
  if (chosen.pauses || chosen.clocks) process.env.CHAOS_WORKERS = '2';
  if (chosen.clocks) process.env.CHAOS_FAKETIME = (await ensureFaketime()).library;
  const rackSize = Number(chosen.nodes ?? (chosen.faults ? 64 : chosen.rollouts ? 800 : 128));
  const turns = turnsOf(chosen);
  // One table of several turns needs a place where the earlier ones are kept.
  const keeps = turns.length > 1 && !chosen.results ? temporaryDir('chaos-results') : undefined;
  const more = keeps ? ['--results', path.join(keeps, 'results.jsonl')] : [];
  let status = 0;
  for (const systems of turns) {
    const ended = await turn(systems, [...args, ...more], { rackSize, rollouts: chosen.rollouts });
    if (ended > 128) return ended;
    status ||= ended;
  }
  if (keeps) fs.rmSync(keeps, { recursive: true });
  return status;
});
