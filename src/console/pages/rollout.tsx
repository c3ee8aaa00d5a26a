/** Page of one rollout: state, budget, waves, nodes and acts. */
import type { ComponentChildren } from 'preact';
import { offeredRolloutActs, type RolloutAct, rolloutStateSays, rolloutWill, whyNotBegun } from '../../model/rollouts/rollout-acts'; // biome-ignore format: one line
import { endedRollouts, targetStates } from '../../model/rollouts/states';
import type { Rollout, RolloutCounter, RolloutTarget, RolloutWave } from '../../wire/rollouts';
import { Acts, type Answers, type Ask, askedRules, type Offer } from '../parts/acts';
import { Choice } from '../parts/forms';
import { groupedBy } from '../parts/groups';
import { type Filter, Filters, wantedOf } from '../parts/list';
import { Live } from '../parts/live';
import { Pager, pageOf, pageSize, Table } from '../parts/tables';
import {
  Facts,
  Id,
  NodeLink,
  Notice,
  Project,
  personOf,
  State,
  spanOf,
  Time,
  Title,
  toneOf,
  toneShapes,
} from '../parts/texts';
import type { PageQuery } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { proofOf } from '../server/session';
import { rolloutAddress, rolloutTitle, workOf } from './rollouts';

const rolloutLabels: Readonly<Record<RolloutAct, string>> = {
  approve: 'Approve plan', reject: 'Reject plan', submit: 'Request approval', start: 'Start', advance: 'Open next wave',
  resume: 'Resume', pause: 'Pause', adopt: 'Adopt', abort: 'Abort',
}; // biome-ignore format: one table

const withPlan: readonly RolloutAct[] = ['approve', 'reject', 'submit', 'start'];
const ruleOf = (act: RolloutAct): string => `temper:rollout:${act === 'reject' ? 'approve' : act}`;

const whatRuns = <Choice label="Nodes under way" name="running" options={[['finish', 'let them finish'], ['abort', 'request their end']]} />; // biome-ignore format: one line

const rolloutOffers = (rollout: Rollout): Offer[] =>
  offeredRolloutActs.map((act) => ({
    name: act,
    label: rolloutLabels[act],
    rule: ruleOf(act),
    stateSays: rolloutStateSays(act, rollout),
    will: rolloutWill[act],
    danger: act === 'abort' || act === 'reject',
    minor: act === 'pause' || act === 'adopt',
    more: act === 'abort' && whatRuns,
    // The API answers 409 if the plan or the wave has changed.
    fields: { plan_hash: rollout.plan_hash ?? '', wave: String(rollout.wave ?? '') },
  }));

export const rolloutAsks = (rollout: string): Ask[] =>
  [...new Set(offeredRolloutActs.map(ruleOf))].map((rule) => ({ rule, rollout }));

type ActsProps = { rollout: Rollout; answers: Answers; session: PageContext['session'] };

/** Possible acts, and reasons why others are not. */
export const RolloutActs = ({ rollout, answers, session }: ActsProps) => (
  <Acts
    id={`acts-${rollout.uuid}`}
    offers={rolloutOffers(rollout)}
    answers={answers}
    about={{ kind: 'rollout', object: rollout.uuid }}
    session={session}
    actionOf={({ name }) => `${rolloutAddress(rollout)}/${name}`}
  />
);

const longestGauge = 60;

/** Shows a budget in words, and as one shape per node if they fit. */
const Gauge = ({ counter }: { counter: RolloutCounter }) => {
  const { scope, value, failed, parked, in_flight, most } = counter;
  const budget = counter.budget ?? 0;
  const free = Math.max(0, budget - failed - parked - in_flight);
  const shapes = [['bad', '▲', failed], ['wait', '◆', parked], ['busy', '◐', in_flight], ['idle', '○', free]] as const; // biome-ignore format: one row
  return (
    <li class="card">
      <b>{scope === 'total' ? 'All nodes' : `${scope} ${value}`}</b>{' '}
      <span aria-hidden="true">
        {budget <= longestGauge &&
          shapes.map(([tone, shape, many]) => <span key={tone} class={tone}>{shape.repeat(many)}</span>)}
      </span>
      <p>
        {failed} failed, {parked} parked, {in_flight} under way
        {counter.budget === null ? '; no own budget' : `; ${free} of ${budget} places free`}
        {most !== null && `; ${most} at once`}
      </p>
    </li>
  );
}; // biome-ignore format: short parts

const mostGauges = 12;

/** The whole, the open wave, and domains with nodes in flight, parked or failed. */
const gaugesOf = ({ counters = [], wave }: Rollout): readonly RolloutCounter[] =>
  counters
    .filter(({ scope, value, failed, parked, in_flight }) =>
      scope === 'wave' ? value === `${wave}` : scope === 'total' || failed + parked + in_flight > 0,
    )
    .slice(0, mostGauges);

const gateOf = ({ advance, soak_ms, wave }: RolloutWave, last: boolean): string => {
  const soak = soak_ms > 0 ? `each node is observed for ${spanOf(soak_ms)}` : 'nodes are not observed afterwards';
  return last ? soak : `${soak}; ${advance === 'manual' ? 'a person opens' : 'its end opens'} wave ${wave + 1}`;
};

const answerOf = ({ answer, note, passed }: NonNullable<RolloutWave['gate']>): string =>
  [`Gate: ${answer}`, note, passed && `passed by ${passed.by}: ${passed.reason}`].filter(Boolean).join('; ');

const Waves = ({ waves, address }: { waves: readonly RolloutWave[]; address: string }) => (
  <ol class="timeline">
    {waves.map((one, index) => {
      const { wave, size, states, opened_at, closed_at } = one;
      const open = opened_at !== null && closed_at === null;
      const ended = size - ['pending', 'asked', 'admitted', 'soaking', 'parked'].reduce((all, state) => all + (states[state] ?? 0), 0); // biome-ignore format: one sum
      return (
        <li key={wave} class={open ? 'now' : undefined} aria-current={open ? 'step' : undefined}>
          <div class="line">
            <a href={`${address}?wave=${wave}`}>Wave {wave}</a>
            <State is={closed_at ? 'over' : open ? 'open' : 'not open'} tone={closed_at ? 'good' : open ? 'busy' : 'idle'} />
            <progress max={size} value={ended} aria-label={`Wave ${wave}`} />
            <span class="muted">{ended} of {size} {size === 1 ? 'node' : 'nodes'} ended</span>
          </div>
          <p class="line">{Object.entries(states).map(([state, many]) => <span key={state}><State is={state} /> {many}</span>)}</p>
          <p class="muted">{gateOf(one, index === waves.length - 1)}</p>
          {one.gate && <p>{answerOf(one.gate)}</p>}
        </li>
      );
    })}
  </ol>
); // biome-ignore format: short parts

const PlanFacts = ({ rollout }: { rollout: Rollout }) => {
  const { summary, requester, grant } = rollout;
  return (
    <Facts
      rows={[
        ['ID', <Id id={rollout.uuid} />],
        ['Work', rollout.runbook ? <a href={`/runbooks/${rollout.runbook.uuid}`}>{workOf(rollout)}</a> : workOf(rollout)],
        ['Project', rollout.project && <Project id={rollout.project} />],
        ['Planned by', requester && personOf(requester)],
        ['Acts as', grant && personOf(grant)],
        ['Nodes', summary && `${summary.will_run} of ${summary.selected} selected`],
        ['Restarts', summary?.restarts || null],
        ['Erases', summary?.erased || null],
        ['Tenant consent', summary?.need_consent || null],
        ['Usually takes', summary?.expected_ms && spanOf(summary.expected_ms)],
        ['Reverts', rollout.reverts && <Id id={rollout.reverts} href={`/rollouts/${rollout.reverts}`} />],
        ['Plan', rollout.plan_hash && <Id id={rollout.plan_hash} />],
        ['Started', rollout.started_at && <Time at={rollout.started_at} />],
        ['Ended', rollout.finished_at && <Time at={rollout.finished_at} />],
      ]}
    />
  );
}; // biome-ignore format: one table

/** A target is identified only by its position in the plan. */
export const targetAddress = (rollout: Rollout, { position }: RolloutTarget): string =>
  `${rolloutAddress(rollout)}/targets/${position}`;

const targetFilters: readonly Filter[] = [
  { name: 'state', label: 'State', options: targetStates },
  { name: 'wave', label: 'Wave' },
  { name: 'by', label: 'Cells by', hint: 'wave or properties.rack' },
];

const mostCells = 1_000;

/** By the bound in the address, else the first of the plan, else by wave. */
const groupsOf = (
  targets: readonly RolloutTarget[],
  asked: string | undefined,
): (readonly [name: string, targets: readonly RolloutTarget[]])[] => {
  const by = asked ?? Object.keys(targets.find(({ domains }) => domains)?.domains ?? {})[0] ?? 'wave';
  const nameOf = ({ wave, domains }: RolloutTarget): string =>
    by !== 'wave' ? `${by} ${domains?.[by] || 'unknown'}` : wave ? `wave ${wave}` : 'not in a wave';
  return groupedBy(targets, nameOf).map((group) => [nameOf(group[0]!), group]);
};

type TargetsProps = { rollout: Rollout; rows: readonly RolloutTarget[]; query: PageQuery };

/** One cell per node, one row per domain. */
const Grid = ({ rollout, rows, query }: TargetsProps) => (
  <dl class="grid">
    {groupsOf(rows, query.by).map(([name, targets]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          {targets.map((target) => {
            const text = `${target.node_name ?? target.node_uuid}: ${target.state}`;
            const tone = toneOf(target.state);
            return (
              <a key={text} href={targetAddress(rollout, target)} class={`cell ${tone}`} title={text} aria-label={text}>
                {toneShapes[tone]}
              </a>
            );
          })}
        </dd>
      </div>
    ))}
  </dl>
);

const Targets = ({ rollout, rows, query }: TargetsProps) => {
  const { shown, next } = pageOf(rows, ({ position }) => String(position));
  return (
    <>
      <Table
        caption="Nodes of the rollout"
        rows={shown}
        columns={[
          { title: 'Node', of: (one) => <NodeLink uuid={one.node_uuid} name={one.node_name} to={targetAddress(rollout, one)} /> },
          { title: 'State', of: ({ state }) => <State is={state} /> },
          { title: 'Wave', of: ({ wave }) => wave },
          { title: 'Code', of: ({ code }) => code },
          { title: 'Why', long: true, of: (one) => whyNotBegun(rollout, one, Date.now()) ?? one.reason },
          { title: 'Run', of: ({ run }) => run && <Id id={run} href={`/runs/${run}`} /> },
        ]}
        empty="No nodes match."
      />
      <Pager path={rolloutAddress(rollout)} query={query} next={next} />
    </>
  );
}; // biome-ignore format: short rows

const Whole = ({ rollout, children }: { rollout: Rollout; children: ComponentChildren }) => (
  <>
    <h2>Budget</h2>
    <ul class="cards two">{gaugesOf(rollout).map((counter) => <Gauge key={counter.scope + counter.value} counter={counter} />)}</ul>
    {children}
    <h2>Waves</h2>
    <Waves waves={rollout.waves ?? []} address={rolloutAddress(rollout)} />
    {rollout.summary?.refused.map(({ code, reason, nodes }) => (
      <p key={code + reason} class="wait">Not in the plan: {nodes} (<a href={`?reason=${code}`}>{code}</a>). {reason}</p>
    ))}
  </>
); // biome-ignore format: short parts

const isAct = (act: string): act is RolloutAct => (offeredRolloutActs as readonly string[]).includes(act);

/** Event stream of the pages; undefined after the rollout's end. */
export const rolloutEvents = ({ state }: Rollout) => (endedRollouts.includes(state) ? undefined : '/live');

const rolloutData = async ({ api, params }: PageContext, wanted: PageQuery) => {
  const path = `/temper/v1/rollouts/${encodeURIComponent(params.rollout!)}`;
  const { by: _, marker, ...filter } = wanted;
  const targetsAt = (from: string | undefined, limit: number) =>
    api.list<RolloutTarget>(`${path}/targets`, { ...filter, marker: from, limit });
  const [rollout, cells, page] = await Promise.all([
    api.get<Rollout>(path),
    targetsAt(undefined, mostCells),
    marker === undefined ? undefined : targetsAt(marker, pageSize + 1),
  ]);
  const whole = rollout.plan_hash !== undefined;
  return { rollout, cells, rows: page ?? cells, answers: whole && (await askedRules(api, rolloutAsks(rollout.uuid))) };
};

export const rolloutPage = async (context: PageContext): Promise<PageAnswer> => {
  const { session, query } = context;
  const wanted = wantedOf(query, ['state', 'wave', 'reason', 'by']);
  const { rollout, cells, rows, answers } = await rolloutData(context, wanted);
  const [address, title] = [rolloutAddress(rollout), rolloutTitle(rollout)];
  const did = query.did && isAct(query.did) && query.proof === proofOf(session, rollout.uuid + query.did) && query.did;
  const grid = (
    <>
      <h2>Nodes</h2>
      <Grid rollout={rollout} rows={cells} query={wanted} />
      {cells.length === mostCells && <p class="muted">Cells show the first {mostCells} nodes. Filter to see others.</p>}
    </>
  ); // biome-ignore format: short parts
  const body = (
    <>
      {did && <Notice tone="good" role="status" says={rolloutWill[did]} />}
      <Live id="rollout" path={address} query={wanted} events={rolloutEvents(rollout)}>
        <Title text={title} says={`${title}: ${rollout.state}`}><State is={rollout.state} /></Title>
        {rollout.reason && <Notice tone="wait" says={`${rollout.code ? `${rollout.code}: ` : ''}${rollout.reason}`} />}
        {answers && <RolloutActs rollout={rollout} answers={answers} session={session} />}
        <PlanFacts rollout={rollout} />
        {answers ? <Whole rollout={rollout}>{grid}</Whole> : grid}
        <h2>Node by node</h2>
        <Filters path={address} query={query} filters={targetFilters} />
        <Targets rollout={rollout} rows={rows} query={wanted} />
      </Live>
    </>
  ); // biome-ignore format: short parts
  return { title, body };
};

export const actOnRollout = async ({ api, params, form, session }: FormContext): Promise<PageAnswer> => {
  const { rollout = '', act = '' } = params;
  const to = `/rollouts/${encodeURIComponent(rollout)}`;
  if (!isAct(act)) return { to };
  const wave = fieldOf(form, 'wave');
  const body = {
    reason: fieldOf(form, 'reason'),
    ...(withPlan.includes(act) && { plan_hash: fieldOf(form, 'plan_hash') }),
    ...(act === 'advance' && /^\d+$/.test(wave) && { expected_wave: Number(wave) }),
    ...(act === 'abort' && { running: fieldOf(form, 'running') || 'finish' }),
  };
  await api.send('POST', `/temper/v1${to}/${act}`, body, fieldOf(form, 'key') || undefined);
  return { to: `${to}?did=${act}&proof=${proofOf(session, rollout + act)}` };
};
