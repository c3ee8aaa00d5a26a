/** Rollouts as text: the plan for its approvers, and the progress. */
import type {
  Rollout,
  RolloutAborted,
  RolloutCounter,
  RolloutTarget,
  RolloutVotes,
  RolloutWave,
} from '../../wire/rollouts';
import { clock } from '../spans';
import { cut, listing, plainText } from '../tables';
import { gateLines } from './gate-texts';

const count = (many: number, one: string, more = `${one}s`): string => `${many} ${many === 1 ? one : more}`;
const workText = ({ verb, runbook }: Rollout): string =>
  runbook ? `${verb} by ${runbook.name}, revision ${runbook.revision}` : verb;

const whyText = ({ code, reason }: Rollout): string => {
  const why = [code, reason].filter(Boolean).join(', ');
  return why === '' ? '' : `: ${plainText(why)}`;
};

/** The text adds that nothing was changed, but only before the start. */
export const planText = (rollout: Rollout): string => {
  const { summary, plan_hash = '', started_at } = rollout;
  if (!summary) return `${rollout.uuid}  ${plainText(rollout.state)}  ${plainText(workText(rollout))}\n`;
  const refused = summary.refused.reduce((all, { nodes }) => all + nodes, 0);
  const reasons = summary.refused.map(({ nodes, code, reason }, index) =>
    [index === 0 ? '  refused ' : '          ', String(nodes).padStart(5), code.padEnd(17), plainText(reason)].join(
      ' ',
    ),
  );
  const { expected_ms, p95_ms } = summary;
  const p95 = typeof p95_ms === 'number' ? `, p95 ${clock(p95_ms)}` : '';
  const time = expected_ms === null ? 'the time is not known yet' : `about ${clock(expected_ms)}${p95}`;
  return `${[
    `${count(summary.selected, 'node')} selected: ${summary.will_run} would run, ${refused} refused, ${summary.need_consent} ${summary.need_consent === 1 ? 'needs' : 'need'} consent.${started_at ? '' : ' Nothing was touched.'}`,
    ...reasons,
    `  power     ${count(summary.restarts, 'node')} restarted; ${count(summary.erased, 'node is', 'nodes are')} erased`,
    `  waves     ${summary.waves.join(' + ')}; worst case ${summary.harmed_at_most ?? summary.will_run} harmed; ${time}`,
    ...gateLines(rollout),
    `  rollout   ${rollout.uuid}  ${plainText(rollout.state)}${whyText(rollout)}  ${plainText(workText(rollout))}`,
    `  plan      ${plainText(plan_hash)}`,
  ].join('\n')}\n`;
};

/** An abort also returns the running nodes. */
export type ActedRollout = Rollout | RolloutAborted;

const stateSays = ({ state, wave = 1, start_at, reason }: Rollout): string => {
  if (state === 'scheduled' && start_at) return `begins automatically at ${start_at}, by your rights.`;
  if (state === 'running') return `is running; wave ${wave} is open.`;
  if (state === 'awaiting_approval') return 'awaits its approval.';
  return `is ${state}${reason ? `: ${reason}` : ''}.`;
};

const runningSays = (running: RolloutAborted['running']): string =>
  [
    running.length === 0 ? 'Nothing of it runs any more.' : 'What still runs:',
    ...running.map(({ node_name, node_uuid, will }) => `  ${plainText(`${node_name ?? node_uuid} ${will}`)}`),
  ].join('\n');

export const actedText = (act: string, acted: ActedRollout): string => {
  const rollout = 'rollout' in acted ? acted.rollout : acted;
  const name = rollout.name ?? rollout.uuid;
  const adopted = act === 'adopt' ? 'goes on by your rights, and ' : '';
  const line = plainText(`Rollout ${name} ${adopted}${stateSays(rollout)}`);
  return 'rollout' in acted ? `${line}\n${runningSays(acted.running)}\n` : `${line}\n`;
};

export const votesText = ({ plan_hash, wanted, approved, votes }: RolloutVotes): string =>
  `${[
    `Plan ${plainText(plan_hash.slice(0, 12))} has ${approved} of ${count(wanted, 'approval')}.`,
    ...votes.map(({ user_name, user_id, vote, reason, expires_at }) =>
      plainText(`${user_name ?? user_id}: ${vote}, until ${expires_at}${reason === null ? '' : `: ${reason}`}`),
    ),
  ].join('\n  ')}\n`;

const barSize = 20;
const over = ['done', 'failed', 'aborted', 'skipped'];

const bar = (share: number): string => {
  const full = Math.round(Math.min(1, share) * barSize);
  return `[${'#'.repeat(full)}${'.'.repeat(barSize - full)}]`;
};

const statesText = (states: Readonly<Record<string, number>>): string =>
  Object.entries(states)
    .filter(([, many]) => many > 0)
    .map(([state, many]) => `${many} ${state}`)
    .join(', ');

const waveLine = ({ wave, size, states }: RolloutWave): string => {
  const ended = over.reduce((sum, state) => sum + (states[state] ?? 0), 0);
  return `wave ${String(wave).padEnd(3)} ${bar(ended / size)} ${ended}/${size}  ${statesText(states)}`;
};

const budgetLine = ({ failed, parked, in_flight, budget, most }: RolloutCounter): string =>
  `budget   ${failed} failed + ${parked} parked + ${in_flight} in flight of ${budget ?? 'any number'}${most === null ? '' : `, at most ${most} at once`}`;

/** @param targets some of its targets */
export const progressLines = (rollout: Rollout, targets: readonly RolloutTarget[], width = 120): string[] => {
  const { waves = [], counters = [], code, reason } = rollout;
  const why = code || reason ? `: ${[code, reason].filter(Boolean).join(', ')}` : '';
  const total = counters.find(({ scope }) => scope === 'total');
  const named = ({ node_name, node_uuid }: RolloutTarget): string => node_name ?? node_uuid;
  const list = (title: string, states: readonly string[], say: (target: RolloutTarget) => string): string[] => {
    const some = targets.filter(({ state }) => states.includes(state)).map(say);
    return some.length > 0 ? [`${title} ${some.join('; ')}`] : [];
  };
  return [
    `rollout  ${rollout.uuid}  ${rollout.state}${why}`,
    ...waves.map(waveLine),
    ...(total ? [budgetLine(total)] : []),
    ...list('flight  ', ['admitted', 'soaking', 'parked'], (one) => `${named(one)} ${one.state}`),
    ...list('waits   ', ['asked', 'pending'], (one) =>
      [
        named(one),
        one.state === 'asked' ? 'for its tenant' : (one.code ?? 'for room'),
        one.not_before && `until ${one.not_before}`,
      ]
        .filter(Boolean)
        .join(' '),
    ),
    ...list('failed  ', ['failed'], (one) => `${named(one)}: ${one.reason ?? one.code ?? ''}`),
  ].map((line) => cut(line, width));
};

/** States that a rollout does not leave. */
export const endedStates: readonly string[] = ['succeeded', 'stopped', 'aborted', 'expired'];

export const rolloutTable = listing<Rollout>(
  'rollouts',
  ['ROLLOUT', 'STATE', 'WAVE', 'WORK', 'CREATED', 'NAME, AND WHY IT STANDS'],
  (one) => [
    one.uuid,
    one.state,
    one.wave === undefined ? '' : `${one.wave}/${one.waves_total}`,
    workText(one),
    one.created_at,
    [one.name, one.code, one.reason].filter(Boolean).join(': '),
  ],
);

export const targetTable = listing<RolloutTarget>(
  'targets',
  ['NODE', 'WAVE', 'STATE', 'RUN', 'CODE', 'REASON'],
  (one) => [one.node_name ?? one.node_uuid, one.wave ?? '', one.state, one.run ?? '', one.code ?? '', one.reason ?? ''],
);
