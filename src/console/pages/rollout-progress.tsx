/** Progress of a rollout: one bar whose parts sum up, the time left, why it is not faster, and its waves. */
import type { ProgressPart } from '../../model/rollouts/progress';
import { progressParts } from '../../model/rollouts/progress';
import type { Rollout, RolloutCounter, RolloutProgress, RolloutWave } from '../../wire/rollouts';
import { Table } from '../parts/tables';
import { personOf, State, spanOf, stateWord, Time, type Tone } from '../parts/texts';

const partWords: Readonly<Partial<Record<ProgressPart, string>>> = { asked: 'waiting for a tenant', postponed: 'waiting for a window', pending: 'queued' }; // biome-ignore format: one row

const partTones: Readonly<Record<ProgressPart, Tone>> = {
  done: 'good', failed: 'bad', aborted: 'bad', skipped: 'idle', admitted: 'busy', soaking: 'busy', parked: 'wait', asked: 'wait',
  postponed: 'wait', pending: 'idle',
}; // biome-ignore format: one table

const wordOf = (part: ProgressPart): string => partWords[part] ?? stateWord(part);

/** `29 of 36 nodes ended: 22 done, 1 failed, ...`. */
export const partsText = ({ parts }: Pick<RolloutProgress, 'parts'>): string =>
  progressParts
    .filter((part) => parts[part] > 0)
    .map((part) => `${parts[part]} ${wordOf(part)}`)
    .join(' · ');

/** Undefined if no time can be said. */
export const leftText = (rollout: Rollout, progress: RolloutProgress): string | undefined => {
  const { time_left_ms: ms, until_wave } = progress;
  if (rollout.state !== 'running') return undefined;
  if (ms === null) return 'time left not known yet';
  const until = until_wave < (rollout.waves_total ?? 1) ? ` to the end of wave ${until_wave}` : ' left';
  return ms === 0 ? undefined : `about ${spanOf(ms)}${until}`;
};

const gap = 0.4;

/** Parts in percent of the width, in the order of the words beside it. */
const PartsBar = ({ progress }: { progress: RolloutProgress }) => {
  const { nodes, ended, parts } = progress;
  let from = 0;
  const segments = progressParts.flatMap((part) => {
    const width = (parts[part] / Math.max(1, nodes)) * 100;
    const at = from;
    from += width;
    return parts[part] > 0 ? [{ part, at, width }] : [];
  });
  return (
    <svg class="parts" width="100%" height="10" role="img" aria-label={`${ended} of ${nodes} nodes ended: ${partsText(progress)}`}>
      {segments.map(({ part, at, width }) => (
        <rect key={part} class={part === 'pending' ? 'rest' : `fill ${partTones[part]} ${part}`} x={`${at}%`} width={`${Math.max(0.3, width - gap)}%`} height="10" rx="3">
          <title>{`${parts[part]} ${wordOf(part)}`}</title>
        </rect>
      ))}
    </svg>
  );
}; // biome-ignore format: short parts

const Slowed = ({ slowed_by }: Pick<RolloutProgress, 'slowed_by'>) => (
  <ul class="slowed" aria-label="Why not faster?">
    {slowed_by.map(({ code, scope, value, says, until }) => (
      <li key={`${code} ${scope} ${value}`}>
        {says} {until && <span class="muted">{code === 'consent' ? 'Answers are due' : 'The first begins'} <Time at={until} />.</span>}
      </li>
    ))}
  </ul>
); // biome-ignore format: short parts

const isUnderWay = ({ state }: Rollout): boolean => state === 'running' || state === 'paused';

type ProgressProps = { readonly rollout: Rollout; readonly progress: RolloutProgress };

export const ProgressCard = ({ rollout, progress }: ProgressProps) => {
  const { nodes, ended, slowed_by } = progress;
  return (
    <section class="card" aria-label="Progress">
      <p>
        <b>{ended} of {nodes} {nodes === 1 ? 'node' : 'nodes'} ended</b> <span class="muted">{partsText(progress)}</span>
      </p>
      <PartsBar progress={progress} />
      {isUnderWay(rollout) && ended < nodes && (
        <div class="why-slow">
          <b>Why not faster?</b>
          {slowed_by.length > 0 ? <Slowed slowed_by={slowed_by} /> : <span class="muted">No limit is reached.</span>}
        </div>
      )}
    </section>
  );
}; // biome-ignore format: short parts

const mostLimits = 12;

/** Of the whole, the open wave, and domains with nodes in flight, parked or failed. */
const limitsOf = ({ counters = [], wave }: Rollout): readonly RolloutCounter[] =>
  counters
    .filter(({ scope, value, failed, parked, in_flight }) =>
      scope === 'wave' ? value === `${wave}` : scope === 'total' || failed + parked + in_flight > 0,
    )
    .slice(0, mostLimits);

const roomText = ({ budget, failed, parked, in_flight }: RolloutCounter): string | null =>
  budget === null ? null : `${Math.max(0, budget - failed - parked - in_flight)} of ${budget}`;

/** Each limit with the nodes that take its places. */
export const LimitTable = ({ rollout }: { rollout: Rollout }) => (
  <Table
    caption="Limits"
    heading
    rows={limitsOf(rollout)}
    columns={[
      { title: 'Limit of', of: ({ scope, value }) => (scope === 'total' ? 'all nodes' : `${scope} ${value}`) },
      { title: 'Failures', of: ({ budget }) => (budget === null ? null : `at most ${budget}`) },
      { title: 'At once', of: ({ most }) => most },
      { title: 'Under way', of: ({ in_flight }) => `${in_flight}` },
      { title: 'Failed', of: ({ failed }) => `${failed}` },
      { title: 'Parked', of: ({ parked }) => `${parked}` },
      { title: 'Places free', of: roomText },
    ]}
  />
);

const waitingStates = ['pending', 'asked', 'admitted', 'soaking', 'parked'];

const endedIn = ({ size, states }: RolloutWave): number =>
  size - waitingStates.reduce((all, state) => all + (states[state] ?? 0), 0);

const statesText = ({ states }: RolloutWave): string =>
  Object.entries(states)
    .map(([state, many]) => `${many} ${state === 'pending' ? 'to go' : state === 'asked' ? 'wait for a tenant' : stateWord(state)}`)
    .join(', '); // biome-ignore format: one sentence

const gateOf = ({ advance, soak_ms, wave }: RolloutWave, last: boolean): string => {
  const soak = soak_ms > 0 ? `Each node is observed for ${spanOf(soak_ms)}.` : '';
  const next = advance === 'manual' ? `A person opens wave ${wave + 1}.` : `Wave ${wave + 1} opens at its end.`;
  return [soak, last ? '' : next].filter(Boolean).join(' ');
};

const answerOf = ({ answer, note, passed }: NonNullable<RolloutWave['gate']>): string =>
  [`Gate: ${answer}`, note, passed && `passed by ${passed.by}: ${passed.reason}`].filter(Boolean).join('; ');

const Opened = ({ wave: { opened_at, opened_by, opened_reason, closed_at } }: { wave: RolloutWave }) =>
  opened_at === null ? null : (
    <p class="muted">
      Opened <Time at={opened_at} />{opened_by && ` by ${personOf(opened_by)}`}{opened_reason && ` “${opened_reason}”`}
      {closed_at && <>, over <Time at={closed_at} /></>}
    </p>
  ); // biome-ignore format: one sentence

const WaveCard = ({ wave: one, last, address }: { wave: RolloutWave; last: boolean; address: string }) => {
  const { wave, size, opened_at, closed_at } = one;
  const open = opened_at !== null && closed_at === null;
  const gate = gateOf(one, last);
  return (
    <li class={open ? 'card now' : 'card'} aria-current={open ? 'step' : undefined}>
      <header>
        <h3><a href={`${address}?wave=${wave}`}>Wave {wave}</a></h3>
        <State is={closed_at ? 'over' : open ? 'open' : 'not open'} tone={closed_at ? 'good' : open ? 'busy' : 'idle'} />
        <span class="muted">{endedIn(one)} of {size} ended</span>
      </header>
      <p>{size} {size === 1 ? 'node' : 'nodes'}: {statesText(one)}</p>
      <Opened wave={one} />
      {gate && !closed_at && <p class="muted">{gate}</p>}
      {one.gate && <p>{answerOf(one.gate)}</p>}
    </li>
  );
}; // biome-ignore format: short parts

/** From left to right, the open one marked. */
export const Waves = ({ waves, address }: { waves: readonly RolloutWave[]; address: string }) => (
  <ol class="waves" aria-label="Waves">
    {waves.map((wave, index) => (
      <WaveCard key={wave.wave} wave={wave} last={index === waves.length - 1} address={address} />
    ))}
  </ol>
);
