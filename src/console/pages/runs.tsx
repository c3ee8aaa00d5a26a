/** List of runs. */
import { verbs } from '../../model/lifecycle/verbs';
import type { ListedRun } from '../../wire/runs';
import { type List, listPage } from '../parts/list';
import type { Column, RowNews } from '../parts/tables';
import { Empty, Id, NodeLink, personOf, State, stateWord, Time } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';

const states = ['open', 'retrying', 'parked', 'paused', 'waiting', 'running', 'ended', 'succeeded', 'failed', 'aborted', 'any'] as const; // biome-ignore format: one row of names

export const runAddress = ({ uuid }: { uuid: string }): string => `/runs/${uuid}`;
export const runState = ({ retrying, state }: { retrying?: boolean; state: string }): string =>
  retrying ? 'retrying' : state;
export const runTitle = ({ verb, node_name, node_uuid }: Pick<ListedRun, 'verb' | 'node_name' | 'node_uuid'>): string =>
  `${verb} on ${node_name ?? node_uuid}`;
export const runWork = ({ verb, runbook }: ListedRun): string => (runbook ? `${verb}: ${runbook}` : verb);

export const runColumns: readonly Column<ListedRun>[] = [
  { title: 'Run', of: (run) => <Id id={run.uuid} href={runAddress(run)} /> },
  { title: 'Node', of: (run) => <NodeLink uuid={run.node_uuid} name={run.node_name} to={`/nodes/${run.node_uuid}`} /> },
  { title: 'Verb', of: runWork },
  { title: 'State', of: (run) => <State is={runState(run)} /> },
  { title: 'Step', of: ({ cursor, step_count: many }) => many > 0 && `${Math.min(cursor + 1, many)} of ${many}` },
  { title: 'Started by', of: ({ requester }) => personOf(requester) },
  { title: 'Started', of: (run) => <Time at={run.started_at ?? run.created_at} /> },
  { title: 'Waiting for, or last error', long: true, of: (run) => run.waiting_for ?? run.last_error },
];

export const runNews: RowNews<ListedRun> = (run) => ({
  key: run.uuid,
  says: `${runTitle(run)}: ${stateWord(runState(run))}`,
});

const runs: List<ListedRun> = {
  title: 'Runs',
  path: '/runs',
  from: '/temper/v1/runs',
  filters: [
    { name: 'state', label: 'State', options: states, unset: 'open' },
    { name: 'verb', label: 'Verb', options: Object.keys(verbs) },
    { name: 'node', label: 'Node' },
    { name: 'runbook', label: 'Runbook' },
  ],
  also: ['runbook_revision', 'since'],
  markerOf: ({ uuid }) => uuid,
  columns: runColumns,
  views: [
    ['Open', {}],
    ['Retrying', { state: 'retrying' }],
    ['Parked', { state: 'parked' }],
    ['Failed', { state: 'failed' }],
    ['All', { state: 'any' }],
  ],
  newsOf: runNews,
  empty: (
    <Empty icon="activity" title="No open runs">
      <p>Runs of your nodes show up here while they work.</p>
      <a class="button" href="/runs?state=any">
        Show all runs
      </a>
    </Empty>
  ),
  events: '/live',
};

export const runsPage = (context: PageContext): Promise<PageAnswer> => listPage(context, runs);
