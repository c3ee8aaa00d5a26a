/** Page of one rollout: state, progress, waves, what needs a person, nodes and acts. */
import {
  offeredRolloutActs,
  type RolloutAct,
  rolloutDid,
  rolloutStateSays,
  rolloutWill,
} from '../../model/rollouts/rollout-acts';
import { endedRollouts } from '../../model/rollouts/states';
import type { Rollout, RolloutAborted, RolloutProgress, RolloutTarget } from '../../wire/rollouts';
import { ActBar } from '../parts/act-bar';
import { Acts, type Answers, type Ask, askedRules, Done, type Offer } from '../parts/acts';
import { Choice, Field } from '../parts/forms';
import { Filters, wantedOf } from '../parts/list';
import { Live } from '../parts/live';
import { pageSize } from '../parts/tables';
import { Facts, Id, Notice, Project, personOf, State, spanOf, Time, Title } from '../parts/texts';
import { TitledSection } from '../parts/titled-section';
import type { PageQuery } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { addressSaying } from '../server/session';
import { NeedsCard, needsData } from './rollout-needs';
import { Grid, Targets, targetFilters } from './rollout-nodes';
import { LimitTable, leftText, ProgressCard, Waves } from './rollout-progress';
import { rolloutAddress, rolloutTitle, workOf } from './rollouts';
import { timeIn } from './utc-times';

const rolloutLabels: Readonly<Record<RolloutAct, string>> = {
  approve: 'Approve plan', reject: 'Reject plan', submit: 'Request approval', start: 'Start', advance: 'Open next wave',
  resume: 'Resume', pause: 'Pause', adopt: 'Adopt', abort: 'Abort',
}; // biome-ignore format: one table

const withPlan: readonly RolloutAct[] = ['approve', 'reject', 'submit', 'start'];
const ruleOfAct = (act: RolloutAct): string => `temper:rollout:${act === 'reject' ? 'approve' : act}`;

const whatRuns = <Choice label="Nodes under way" name="running" options={[['finish', 'let them finish'], ['abort', 'request their end']]} />; // biome-ignore format: one line
const startsAt = <Field label="At (UTC)" name="start_at" type="datetime-local" hint="Empty: now. Tenants read the reason." />; // biome-ignore format: one line

const rolloutOffers = (rollout: Rollout): Offer[] =>
  offeredRolloutActs.map((act) => ({
    name: act,
    label: rolloutLabels[act],
    rule: ruleOfAct(act),
    stateSays: rolloutStateSays(act, rollout),
    will: rolloutWill[act],
    danger: act === 'abort' || act === 'reject',
    minor: act === 'pause' || act === 'adopt',
    more: act === 'abort' ? whatRuns : act === 'start' && startsAt,
    // The API answers 409 if the plan or the wave has changed.
    fields: { plan_hash: rollout.plan_hash ?? '', wave: String(rollout.wave ?? '') },
  }));

export const rolloutAsks = (rollout: string): Ask[] =>
  [...new Set(offeredRolloutActs.map(ruleOfAct))].map((rule) => ({ rule, rollout }));

type ActsProps = { rollout: Rollout; answers: Answers; session: PageContext['session'] };

const actsOf = ({ rollout, answers, session }: ActsProps) => ({
  id: `acts-${rollout.uuid}`,
  offers: rolloutOffers(rollout),
  answers,
  about: { kind: 'rollout', object: rollout.uuid } as const,
  session,
  actionOf: ({ name }: Offer) => `${rolloutAddress(rollout)}/${name}`,
});

/** Possible acts, and reasons why others are not. */
export const RolloutActs = (props: ActsProps) => <Acts {...actsOf(props)} />;

const leads: readonly RolloutAct[] = ['approve', 'start', 'advance', 'resume'];

const RolloutBar = (props: ActsProps) => (
  <ActBar {...actsOf(props)} leads={leads} beside={['reject', 'submit', 'pause']} menus={[{ id: 'more', label: 'More' }]} />
); // biome-ignore format: one row

const startReason = ({ waves }: Rollout): string | null | undefined => waves?.[0]?.opened_reason;

/** The grant is that of a later person after an adoption. */
export const starterOf = ({ waves, grant }: Rollout) => waves?.[0]?.opened_by ?? grant;

/** The work, its requester and reason, and the time left. */
const Sentence = ({ rollout, progress }: { rollout: Rollout; progress: RolloutProgress }) => {
  const { requester, started_at, created_at } = rollout;
  const [reason, left] = [startReason(rollout), leftText(rollout, progress)];
  return (
    <p class="sentence">
      <span>
        {workOf(rollout)} on {progress.nodes} {progress.nodes === 1 ? 'node' : 'nodes'} ·{' '}
        {started_at ? <>started <Time at={started_at} /> by {personOf(starterOf(rollout))}</> : <>planned <Time at={created_at} /> by {personOf(requester)}</>}
        {reason && ` “${reason}”`}
        {left && <> · <b>{left}</b></>}
      </span>
    </p>
  );
}; // biome-ignore format: one sentence

const PlanFacts = ({ rollout }: { rollout: Rollout }) => {
  const { summary, requester, grant } = rollout;
  return (
    <Facts
      rows={[
        ['ID', <Id id={rollout.uuid} />],
        ['Work', rollout.runbook && rollout.plan_hash ? <a href={`/runbooks/${rollout.runbook.uuid}`}>{workOf(rollout)}</a> : workOf(rollout)],
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
        ['Starts', rollout.state === 'scheduled' && rollout.start_at && <Time at={rollout.start_at} />],
        ['Started', rollout.started_at && <Time at={rollout.started_at} />],
        ['Ended', rollout.finished_at && <Time at={rollout.finished_at} />],
      ]}
    />
  );
}; // biome-ignore format: one table

const mostCells = 1_000;

const isAct = (act: string): act is RolloutAct => (offeredRolloutActs as readonly string[]).includes(act);

/** Event stream of the pages; undefined after the rollout's end. */
export const rolloutEvents = ({ state }: Rollout) => (endedRollouts.includes(state) ? undefined : '/live');

/** Undefined if the caller sees only its own nodes. */
const wholeData = async (context: PageContext, rollout: Rollout) => {
  if (rollout.plan_hash === undefined) return undefined;
  const { api } = context;
  const [answers, progress, needs] = await Promise.all([
    askedRules(api, rolloutAsks(rollout.uuid)),
    api.get<RolloutProgress>(`/temper/v1${rolloutAddress(rollout)}/progress`),
    needsData(context, rollout),
  ]);
  return { answers, progress, needs };
};

const rolloutData = async (context: PageContext, wanted: PageQuery) => {
  const { api, params } = context;
  const path = `/temper/v1/rollouts/${encodeURIComponent(params.rollout!)}`;
  const { by: _, marker, ...filter } = wanted;
  const targetsAt = (from: string | undefined, limit: number) =>
    api.list<RolloutTarget>(`${path}/targets`, { ...filter, marker: from, limit });
  const [rollout, cells, page] = await Promise.all([
    api.get<Rollout>(path),
    targetsAt(undefined, mostCells),
    marker === undefined ? undefined : targetsAt(marker, pageSize + 1),
  ]);
  return { rollout, cells, rows: page ?? cells, whole: await wholeData(context, rollout) };
};

type RolloutData = Awaited<ReturnType<typeof rolloutData>>;

const Cells = ({ rollout, cells, query }: Pick<RolloutData, 'rollout' | 'cells'> & { query: PageQuery }) => (
  <TitledSection title="Nodes">
    <Grid rollout={rollout} rows={cells} query={query} />
    {cells.length === mostCells && <p class="muted">Cells show the first {mostCells} nodes. Filter to see others.</p>}
  </TitledSection>
);

const LeftOut = ({ rollout }: { rollout: Rollout }) => (
  <>
    {rollout.summary?.refused.map(({ code, reason, nodes }) => (
      <p key={code + reason} class="wait">
        Not in the plan: {nodes} (<a href={`?reason=${code}`}>{code}</a>). {reason}
      </p>
    ))}
  </>
);

type WholeProps = Pick<RolloutData, 'rollout' | 'cells'> & { whole: NonNullable<RolloutData['whole']>; query: PageQuery; session: PageContext['session'] }; // biome-ignore format: one row

const Whole = ({ rollout, cells, whole: { progress, needs }, query, session }: WholeProps) => {
  const needing = <NeedsCard rollout={rollout} needs={needs} session={session} />;
  return (
    <>
      <ProgressCard rollout={rollout} progress={progress} />
      <Waves waves={rollout.waves ?? []} address={rolloutAddress(rollout)} />
      <div class="split">
        <Cells rollout={rollout} cells={cells} query={query} />
        {needing}
      </div>
      <LeftOut rollout={rollout} />
    </>
  );
};

const RolloutHead = ({ data: { rollout, whole }, session }: { data: RolloutData; session: PageContext['session'] }) => {
  const title = rolloutTitle(rollout);
  const report = <a class="button" href={`${rolloutAddress(rollout)}/report`}>Report</a>; // biome-ignore format: one line
  return (
    <>
      <Title text={title} says={`${title}: ${rollout.state}`} end={report}>
        <State is={rollout.state} />
        {whole && <RolloutBar rollout={rollout} answers={whole.answers} session={session} />}
      </Title>
      {whole && <Sentence rollout={rollout} progress={whole.progress} />}
      {rollout.reason && <Notice tone="wait" says={`${rollout.code ? `${rollout.code}: ` : ''}${rollout.reason}`} />}
    </>
  );
};

export const rolloutPage = async (context: PageContext): Promise<PageAnswer> => {
  const { session, query } = context;
  const wanted = wantedOf(query, ['state', 'wave', 'reason', 'by']);
  const data = await rolloutData(context, wanted);
  const { rollout, cells, rows, whole } = data;
  const address = rolloutAddress(rollout);
  const body = (
    <>
      <Done session={session} query={query} />
      <Live id="rollout" path={address} query={wanted} events={rolloutEvents(rollout)}>
        <RolloutHead data={data} session={session} />
        {whole ? <Whole rollout={rollout} cells={cells} whole={whole} query={wanted} session={session} /> : <Cells rollout={rollout} cells={cells} query={wanted} />}
        <h2>Node by node</h2>
        <Filters path={address} query={query} filters={targetFilters} />
        <Targets rollout={rollout} rows={rows} query={wanted} />
        {whole && <LimitTable rollout={rollout} />}
        <TitledSection title="Plan"><PlanFacts rollout={rollout} /></TitledSection>
      </Live>
    </>
  ); // biome-ignore format: short parts
  return { title: rolloutTitle(rollout), body };
};

const bodyOf = (act: RolloutAct, form: FormContext['form']) => {
  const [wave, start_at] = [fieldOf(form, 'wave'), fieldOf(form, 'start_at')];
  return {
    reason: fieldOf(form, 'reason'),
    ...(withPlan.includes(act) && { plan_hash: fieldOf(form, 'plan_hash') }),
    ...(act === 'start' && start_at && { start_at: timeIn(start_at) }),
    ...(act === 'advance' && /^\d+$/.test(wave) && { expected_wave: Number(wave) }),
    ...(act === 'abort' && { running: fieldOf(form, 'running') || 'finish' }),
  };
};

export const actOnRollout = async ({ api, params, form, session }: FormContext): Promise<PageAnswer> => {
  const { rollout = '', act = '' } = params;
  const to = `/rollouts/${encodeURIComponent(rollout)}`;
  if (!isAct(act)) return { to };
  const key = fieldOf(form, 'key') || undefined;
  const done = await api.send<Rollout | RolloutAborted>('POST', `/temper/v1${to}/${act}`, bodyOf(act, form), key);
  return { to: addressSaying(session, to, rolloutDid(act, 'rollout' in done ? done.rollout : done)) };
};
