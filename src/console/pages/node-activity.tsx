/** Activity of a node: its runs with their steps, and all other events, by day. */
import type { ListedRun } from '../../wire/runs';
import { wordsOf } from '../parts/event-words';
import { Pager } from '../parts/tables';
import { Clock, Empty, personOf, State, spanOf, toneOf } from '../parts/texts';
import { type Api, addressWith, type PageQuery } from '../server/api';
import { runAddress, runState, runWork } from './runs';

type NodeEvent = {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly run_uuid: string | null;
  readonly rollout_uuid: string | null;
  readonly data: Readonly<Record<string, unknown>>;
};

/** A run with its events, or one other event. */
type Entry = {
  readonly at: string;
  readonly key: string;
  readonly run?: ListedRun | undefined;
  readonly events: readonly NodeEvent[];
};

const eventsShown = 200;

export const activityOf = async (api: Api, node: string, { marker }: PageQuery) => {
  const events = (await api.findList<NodeEvent>('/temper/v1/events', { node, limit: eventsShown, marker })) ?? [];
  return { events, next: events.length === eventsShown ? String(events.at(-1)!.seq) : undefined };
};

type Activity = Awaited<ReturnType<typeof activityOf>>;

const isProblem = ({ kind, data }: NodeEvent): boolean => ['bad', 'wait'].includes(wordsOf(kind, data).tone ?? '');

const filters: Readonly<Record<string, readonly [label: string, admits: (event: NodeEvent) => boolean]>> = {
  '': ['All', () => true],
  runs: ['Runs', ({ run_uuid }) => run_uuid !== null],
  changes: ['Changes', ({ run_uuid, rollout_uuid }) => run_uuid === null && rollout_uuid === null],
  rollouts: ['Rollouts', ({ rollout_uuid }) => rollout_uuid !== null],
  problems: ['Problems', isProblem],
};

/** Runs without events on this page stand on the first one only, and not below older pages. */
const entriesOf = ({ events, next }: Activity, runs: readonly ListedRun[], show: string, first: boolean): Entry[] => {
  const oldest = next === undefined ? '' : events.at(-1)!.at;
  const all = show === '' || show === 'runs';
  const admitted = events.filter(filters[show]![1]);
  const ids = [...new Set([...admitted.flatMap(({ run_uuid: id }) => id ?? []), ...(all && first ? runs.map(({ uuid }) => uuid) : [])])];
  const blocks = ids.flatMap((id): Entry[] => {
    const run = runs.find(({ uuid }) => uuid === id);
    const own = events.filter(({ run_uuid }) => run_uuid === id);
    const at = own[0]?.at ?? run?.finished_at ?? run?.created_at;
    return at === undefined || (own.length === 0 && at < oldest) ? [] : [{ at, key: id, run, events: own.toReversed() }];
  });
  const single = admitted.filter(({ run_uuid }) => run_uuid === null).map((event) => ({ at: event.at, key: String(event.seq), events: [event] }));
  return [...blocks, ...single].sort((one, other) => other.at.localeCompare(one.at));
}; // biome-ignore format: short lines

const dayOf = (at: string): string =>
  new Date(at).toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }); // biome-ignore format: one line

/** Some events name a step by its number alone; the run's first event has the names. */
const withStep = (event: NodeEvent, events: readonly NodeEvent[]): NodeEvent => {
  const { index } = event.data;
  if (event.data.step !== undefined || typeof index !== 'number') return event;
  const named = events.find(({ data }) => data.index === index && typeof data.step === 'string')?.data.step;
  const planned = events.map(({ data }) => data.steps).find(Array.isArray)?.[index] as { interface?: string; step?: string } | undefined; // biome-ignore format: one line
  const step = named ?? (planned ? `${planned.interface}.${planned.step}` : `Step ${index + 1}`);
  return { ...event, data: { ...event.data, step } };
};

const EventLine = ({ event }: { event: NodeEvent }) => {
  const { tone, says } = wordsOf(event.kind, event.data);
  const { rollout_uuid: rollout } = event;
  return (
    <li>
      <Clock at={event.at} />
      <span class={tone}>
        {says} {rollout && <a href={`/rollouts/${rollout}`}>Open the rollout</a>}
      </span>
    </li>
  );
};

type StepLine = { readonly index: unknown; readonly name: string; readonly state: string; readonly attempts: number; readonly error?: string; readonly begun?: string; readonly ended?: string }; // biome-ignore format: one row

const stepStates: Readonly<Record<string, string>> = {
  'step.begun': 'running', 'step.tried': 'retrying', 'step.waiting': 'waiting', 'step.parked': 'parked',
  'step.done': 'done', 'step.skipped': 'skipped', 'step.failed': 'failed',
}; // biome-ignore format: one table

const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const nextStep = (step: StepLine | undefined, { at, kind, data }: NodeEvent): StepLine => {
  const state = stepStates[kind] ?? step?.state ?? 'running';
  const over = ['done', 'skipped', 'failed'].includes(state);
  const error = textIn(data.error) ?? (state === 'done' ? undefined : step?.error);
  return {
    index: data.index ?? data.step,
    name: textIn(data.step) ?? step?.name ?? '',
    state,
    attempts: Math.max(step?.attempts ?? 0, Number(data.attempts ?? data.attempt ?? 0)),
    begun: step?.begun ?? at,
    ...(error && { error }),
    ...(over && { ended: at }),
  };
};

const stepKey = ({ data }: NodeEvent): unknown => data.index ?? data.step;

/** Steps of a run, read from its events. @param events oldest first */
const stepsOf = (events: readonly NodeEvent[]): StepLine[] => {
  const known = events.filter(({ kind }) => Object.hasOwn(stepStates, kind));
  return [...new Set(known.map(stepKey))].flatMap(
    (key) => known.filter((event) => stepKey(event) === key).reduce<StepLine | undefined>(nextStep, undefined) ?? [],
  );
};

const took = (from: string | null | undefined, to: string | null | undefined): string =>
  from && to ? `took ${spanOf(Date.parse(to) - Date.parse(from))}` : '';

const Step = ({ step, known }: { step: StepLine; known: string | null | undefined }) => {
  const facts = [step.attempts > 1 && `${step.attempts} attempts`, took(step.begun, step.ended)].filter(Boolean);
  return (
    <li>
      <State is={step.state} /> <b>{step.name}</b> <span class="muted">{facts.join(', ')}</span>
      {step.error && step.error !== known && (
        <p class={toneOf(step.state) === 'good' ? 'muted' : 'bad'}>{step.error}</p>
      )}
    </li>
  );
};

const endWords: Readonly<Record<string, string>> = { 'run.succeeded': 'succeeded', 'run.failed': 'failed', 'run.aborted': 'aborted' }; // biome-ignore format: one row

/** The list of runs has only the newest ones; an older run is known by its events. */
const RunHead = ({ run, id, events }: { run: ListedRun | undefined; id: string; events: readonly NodeEvent[] }) => {
  const verb = textIn(events.find(({ kind }) => kind === 'run.accepted')?.data.verb);
  const state = run ? runState(run) : events.map(({ kind }) => endWords[kind]).findLast((word) => word !== undefined);
  const begun = run?.started_at ?? run?.created_at ?? events[0]!.at;
  return (
    <header>
      {state && <State is={state} />}
      <h3>
        <a href={runAddress({ uuid: id })}>{run ? runWork(run) : (verb ?? 'Run')}</a>
      </h3>
      <span>
        {run && `by ${personOf(run.requester)}, `}
        <Clock at={begun} />
        {run?.finished_at && `, ${took(begun, run.finished_at)}`}
      </span>
    </header>
  );
};

const RunBlock = ({ run, id, events }: { run: ListedRun | undefined; id: string; events: readonly NodeEvent[] }) => {
  const named = events.map((event) => withStep(event, events));
  const steps = stepsOf(named);
  return (
    <li class="block" id={`activity-${id}`}>
      <RunHead run={run} id={id} events={named} />
      {run?.waiting_for && <p class="wait">Waiting for {run.waiting_for}</p>}
      {run?.last_error && <p class="bad">{run.last_error}</p>}
      {steps.length > 0 && (
        <ol class="steps">
          {steps.map((step) => <Step key={String(step.index)} step={step} known={run?.last_error} />)}
        </ol>
      )}
      {named.length > 0 && (
        <details id={`events-${id}`}>
          <summary>{named.length === 1 ? '1 event' : `${named.length} events`}</summary>
          <ol class="lines">
            {named.map((event) => <EventLine key={event.seq} event={event} />)}
          </ol>
        </details>
      )}
    </li>
  );
}; // biome-ignore format: short parts

const Filter = ({ path, show }: { path: string; show: string }) => (
  <nav class="pills" aria-label="Filter of the activity">
    {Object.entries(filters).map(([name, [label]]) => (
      <a key={name} href={addressWith(path, { show: name })} aria-current={name === show ? 'true' : undefined}>
        {label}
      </a>
    ))}
  </nav>
);

type ActivityProps = { readonly path: string; readonly query: PageQuery; readonly activity: Activity; readonly runs: readonly ListedRun[] }; // biome-ignore format: one row

export const NodeActivity = ({ path, query, activity, runs }: ActivityProps) => {
  const show = query.show && Object.hasOwn(filters, query.show) ? query.show : '';
  const entries = entriesOf(activity, runs, show, query.marker === undefined);
  const days = [...new Set(entries.map(({ at }) => at.slice(0, 10)))];
  return (
    <>
      <Filter path={path} show={show} />
      {entries.length === 0 && <Empty icon="activity" title={show ? 'No events match.' : 'No activity yet'} />}
      {days.map((day) => (
        <section key={day} class="day" aria-labelledby={`day-${day}`}>
          <h2 id={`day-${day}`}>{dayOf(day)}</h2>
          <ol class="lines">
            {entries
              .filter(({ at }) => at.startsWith(day))
              .map(({ key, run, events }) =>
                run || events[0]?.run_uuid ? (
                  <RunBlock key={key} id={key} run={run} events={events} />
                ) : (
                  <EventLine key={key} event={events[0]!} />
                ),
              )}
          </ol>
        </section>
      ))}
      <p class="muted">Times are UTC.</p>
      <Pager path={path} query={{ show, marker: query.marker }} next={activity.next} />
    </>
  );
};
