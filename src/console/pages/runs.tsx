/** The list of runs: what is going on, and what has ended. */
import type { VNode } from 'preact';
import { verbs } from '../../model/lifecycle/verbs';
import { Choice, Field } from '../parts/forms';
import { Live } from '../parts/live';
import { type Column, Pager, pageOf, pageSize, Table } from '../parts/tables';
import { Id, State, Time } from '../parts/texts';
import type { PageAnswer, PageContext, PageQuery } from '../server/context';
import type { RunListed } from '../views';

const runFilters = ['state', 'verb', 'node', 'runbook', 'runbook_revision', 'since', 'marker'] as const;

const states = ['open', 'retrying', 'parked', 'paused', 'waiting', 'running', 'ended', 'succeeded', 'failed', 'aborted', 'any'] as const; // biome-ignore format: one row of names

export const runAddress = ({ uuid }: { uuid: string }): string => `/runs/${uuid}`;
export const runState = ({ retrying, state }: { retrying?: boolean; state: string }): string =>
  retrying ? 'retrying' : state;
export const requesterOf = ({ requester }: Pick<RunListed, 'requester'>): string =>
  requester?.user_name ?? requester?.user_id ?? '–';

export const runColumns: readonly Column<RunListed>[] = [
  { title: 'Run', of: (run) => <Id id={run.uuid} href={runAddress(run)} /> },
  {
    title: 'Node',
    of: (run) => (
      <a href={`/nodes/${encodeURIComponent(run.node_uuid)}`}>{run.node_name ?? run.node_uuid.slice(0, 8)}</a>
    ),
  },
  { title: 'Verb', of: ({ verb, runbook }) => (runbook ? `${verb}: ${runbook}` : verb) },
  { title: 'State', of: (run) => <State is={runState(run)} /> },
  { title: 'Step', of: (run) => `${Math.min(run.cursor + 1, run.step_count)} of ${run.step_count}` },
  { title: 'Asked by', of: requesterOf },
  { title: 'Begun', of: (run) => <Time at={run.started_at ?? run.created_at} /> },
  { title: 'Waits for, or last error', of: (run) => run.waiting_for ?? run.last_error },
];

const Filters = ({ query }: { query: PageQuery }) => (
  <form method="get" action="/runs" class="row" aria-label="Filters">
    <Choice label="State" name="state" value={query.state ?? 'open'} options={states.map((one) => [one, one])} />
    <Choice
      label="Verb"
      name="verb"
      value={query.verb}
      options={[['', 'any'], ...Object.keys(verbs).map((verb) => [verb, verb] as const)]}
    />
    <Field label="Node" name="node" value={query.node} />
    <Field label="Runbook" name="runbook" value={query.runbook} />
    <button type="submit">Filter</button>
  </form>
);

export const runsPage = async ({ api, query }: PageContext): Promise<PageAnswer> => {
  const wanted: PageQuery = Object.fromEntries(runFilters.map((name) => [name, query[name] || undefined]));
  const { runs } = await api.get<{ runs: readonly RunListed[] }>('/temper/v1/runs', { ...wanted, limit: pageSize + 1 });
  const { shown, next } = pageOf(runs, pageSize, ({ uuid }) => uuid);
  const body: VNode = (
    <>
      <h1>Runs</h1>
      <Filters query={query} />
      <Live id="runs" events="/live" path="/runs" query={wanted}>
        <Table
          caption="Runs"
          rows={shown}
          keyOf={({ uuid }) => uuid}
          columns={runColumns}
          empty={
            <>
              No run is so. <a href="/runs?state=any">Show all runs</a>, or begin one on the page of a{' '}
              <a href="/nodes">node</a>.
            </>
          }
        />
        <Pager path="/runs" query={wanted} next={next} />
      </Live>
    </>
  );
  return { title: 'Runs', body };
};
