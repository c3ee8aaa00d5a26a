/** Timeline of a node: requests, runs and events in one list. */
import { canonicalJson, sha256Of } from '../../model/digests';
import type { AuditEntry } from '../../wire/policy';
import type { ListedRun } from '../../wire/runs';
import { givenReason } from '../parts/audit-words';
import { wordsOf } from '../parts/event-words';
import { Filters } from '../parts/list';
import { Table } from '../parts/tables';
import { Empty, Notice, nodeAddress, personOf, State, Title, type Tone } from '../parts/texts';
import { type Api, ApiRefusal } from '../server/api';
import type { PageAnswer, PageContext } from '../server/context';
import type { NodeView } from '../views';
import { auditPath, Downloads, wholeDayMs } from './audit';
import { Act, Differences, Moment } from './audit-columns';
import { runAddress, runState, runWork } from './runs';

type TimelineEvent = {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly run_uuid: string | null;
  readonly data: Readonly<Record<string, unknown>>;
};

/** One line, from one of three sources. */
type TimelineLine =
  | { readonly of: 'audit'; readonly at: string; readonly entry: AuditEntry }
  | { readonly of: 'run'; readonly at: string; readonly run: ListedRun }
  | { readonly of: 'event'; readonly at: string; readonly event: TimelineEvent };

const mostOfEach = 500;

type Times = { readonly since?: string | undefined; readonly until?: string | undefined };

/** A day to its end. */
const endOf = (until: string | undefined): number => {
  if (!until) return Number.POSITIVE_INFINITY;
  return Date.parse(until) + (until.length === 10 ? wholeDayMs : 0);
};

const isWithin = (at: string, { since, until }: Times): boolean =>
  (!since || Date.parse(at) >= Date.parse(since)) && Date.parse(at) < endOf(until);

/** Newest first. */
const timelineOf = (audit: readonly AuditEntry[], runs: readonly ListedRun[], events: readonly TimelineEvent[]): TimelineLine[] => {
  // A change and its event are of one transaction, so of one moment; the row of the trail says more.
  const changes = new Set(audit.map(({ at }) => at));
  const ends = runs.flatMap((run) => (run.finished_at ? [{ of: 'run' as const, at: run.finished_at, run }] : []));
  return [
    ...audit.map((entry) => ({ of: 'audit' as const, at: entry.at, entry })),
    ...ends,
    ...events.filter(({ at, kind }) => !changes.has(at) && !/^(act|step)\.|^run\.(succeeded|failed|aborted)$/.test(kind)).map((event) => ({ of: 'event' as const, at: event.at, event })),
  ].sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
}; // biome-ignore format: one source a line

const timelineData = async (api: Api, node: NodeView, times: Times) => {
  const [audit, runs = [], events = []] = await Promise.all([
    api.findList<AuditEntry>(auditPath, { node: node.uuid, ...times, limit: mostOfEach }),
    api.findList<ListedRun>('/temper/v1/runs', { node: node.uuid, state: 'any', limit: mostOfEach }),
    api.findList<TimelineEvent>('/temper/v1/events', { node: node.uuid, limit: mostOfEach }),
  ]);
  const lines = timelineOf(audit ?? [], runs, events).filter(({ at }) => isWithin(at, times));
  const isCut = [audit ?? [], runs, events].some(({ length }) => length >= mostOfEach);
  return { lines, audit, isCut };
};

const toneWords: Readonly<Partial<Record<Tone, string>>> = { good: 'well', bad: 'problem', wait: 'attention' };

const By = ({ line }: { line: TimelineLine }) => {
  if (line.of === 'audit') return <>{personOf(line.entry.who)}</>;
  if (line.of === 'run') return <>{personOf(line.run.requester)}</>;
  return <span class="muted">Temper</span>;
};

const What = ({ line }: { line: TimelineLine }) => {
  switch (line.of) {
    case 'audit':
      return (
        <>
          <Act entry={line.entry} />
          {line.entry.run_uuid && <> <a href={`/runs/${line.entry.run_uuid}`}>Open the run</a></>}
          <Differences entry={line.entry} />
        </>
      );
    case 'run':
      return <><a href={runAddress(line.run)}>{runWork(line.run)}</a> ended{line.run.last_error && <p class="bad">{line.run.last_error}</p>}</>;
    case 'event':
      return <>{wordsOf(line.event.kind, line.event.data).says}</>;
  }
}; // biome-ignore format: short parts

const Mark = ({ line }: { line: TimelineLine }) => {
  if (line.of === 'audit') return <State is={line.entry.verdict} />;
  if (line.of === 'run') return <State is={runState(line.run)} />;
  const { tone = 'idle' } = wordsOf(line.event.kind, line.event.data);
  return <State is={toneWords[tone] ?? 'event'} tone={tone} />;
};

const sources = { audit: 'Request', run: 'Run', event: 'Event' } as const;

const TimelineTable = ({ lines }: { lines: readonly TimelineLine[] }) => (
  <Table
    caption="Timeline"
    rows={lines}
    columns={[
      { title: 'When (UTC)', of: ({ at }) => <Moment at={at} /> },
      { title: 'From', of: ({ of }) => sources[of] },
      { title: 'By', of: (line) => <By line={line} /> },
      { title: 'What', long: true, of: (line) => <What line={line} /> },
      { title: 'Reason', long: true, of: (line) => (line.of === 'audit' ? givenReason(line.entry) : undefined) },
      { title: 'Result', of: (line) => <Mark line={line} /> },
    ]}
    empty={<Empty icon="scroll-text" title="Nothing happened in these days." />}
  />
);

/** A print can so be compared with the rows of a file. */
const Proof = ({ audit }: { audit: readonly AuditEntry[] }) => (
  <p class="muted">
    {audit.length} {audit.length === 1 ? 'row' : 'rows'} of the audit trail. SHA-256 of these rows as sorted JSON:{' '}
    <code class="digest">{sha256Of(canonicalJson(audit))}</code>
  </p>
);

const nodeFilters = [
  { name: 'node', label: 'Node', hint: 'Name or ID' },
  { name: 'since', label: 'From day', type: 'date' },
  { name: 'until', label: 'To day', type: 'date' },
] as const;

const Timeline = async ({ api, query }: PageContext, node: NodeView) => {
  const times = { since: query.since || undefined, until: query.until || undefined };
  const { lines, audit, isCut } = await timelineData(api, node, times);
  const name = node.name ?? node.uuid;
  return (
    <>
      <Title text={`Timeline of ${name}`} end={<><a class="button" href={nodeAddress(node)}>Open {name}</a><Downloads query={{ node: name, ...times }} /></>} />
      <div class="tools"><Filters path="/audit/timeline" query={query} filters={nodeFilters} /></div>
      {isCut && <Notice tone="wait" says={`Only the newest ${mostOfEach} of each kind are read. Choose fewer days.`} />}
      {!audit && <Notice tone="idle" says="You don’t have access to the audit trail of this node, so requests are missing here." />}
      <TimelineTable lines={lines} />
      {audit && <Proof audit={audit} />}
    </>
  );
}; // biome-ignore format: short parts

/** The fault of a field; its form keeps what was typed. */
const Faulty = ({ query, says }: { query: PageContext['query']; says: string }) => (
  <>
    <Title text="Timeline of a node" />
    <div class="tools">
      <Filters
        path="/audit/timeline"
        query={query}
        filters={nodeFilters}
        fault={{ field: /^(since|until): /.exec(says)?.[1] ?? 'node', says: says.replace(/^\w+: /, '') }}
      />
    </div>
  </>
);

export const auditTimelinePage = async (context: PageContext): Promise<PageAnswer> => {
  const { api, query } = context;
  const title = 'Timeline';
  if (!query.node) return { title, body: <Faulty query={query} says="node: Name a node." /> };
  try {
    const node = await api.get<NodeView>(`/v1/nodes/${encodeURIComponent(query.node)}`);
    return { title: `Timeline of ${node.name ?? node.uuid}`, body: await Timeline(context, node) };
  } catch (thrown) {
    if (!(thrown instanceof ApiRefusal) || ![400, 404].includes(thrown.status)) throw thrown;
    return { title, status: thrown.status, body: <Faulty query={query} says={thrown.says} /> };
  }
};
