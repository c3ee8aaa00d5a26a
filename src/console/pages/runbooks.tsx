/** Runbooks: the list, one runbook, and a comparison of two revisions. */

import type { ListedRevision, RunbookRevision } from '../../wire/runbooks';
import type { ListedRun } from '../../wire/runs';
import { type Answers, askedRules } from '../parts/acts';
import { type List, listPage } from '../parts/list';
import { Table } from '../parts/tables';
import { Code, Empty, Facts, Id, Project, personOf, State, Time, Title } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import type { RunbookView } from '../views';
import { runColumns, runNews } from './runs';

const runbookPath = ({ name }: { name: string }): string => `/runbooks/${encodeURIComponent(name)}`;
const ownerOf = ({ owner, public: open }: RunbookView) => (open ? 'public' : owner ? <Project id={owner} /> : 'system');

/** A button, or nothing if the rule refuses it. */
const Way = ({ answers, rule, to, label }: { answers: Answers; rule: string; to: string; label: string }) =>
  answers.get(rule)?.allowed ? (
    <a class="button primary" href={to}>
      {label}
    </a>
  ) : null;

const runbooks: List<RunbookView> = {
  title: 'Runbooks',
  path: '/runbooks',
  from: '/v1/runbooks',
  fixed: { detail: 'true' },
  markerOf: ({ uuid }) => uuid,
  columns: [
    { title: 'Name', of: (one) => <a href={runbookPath(one)}>{one.name}</a> },
    { title: 'Owner', of: ownerOf },
    { title: 'Steps', of: ({ steps }) => steps?.length },
    { title: 'Revision', of: ({ revision }) => revision },
    { title: 'Approved for', of: ({ traits }) => traits?.join(', ') },
    { title: 'Description', long: true, of: ({ description }) => description },
    { title: 'Changed', of: ({ updated_at, created_at }) => <Time at={updated_at ?? created_at} /> },
  ],
  empty: (
    <Empty icon="book-open-check" title="No runbooks yet">
      <p>A runbook is a list of steps. Its project runs it on nodes, and others do if it is approved.</p>
    </Empty>
  ),
};

const createsRunbooks = 'baremetal:runbook:create';
const updateRule = 'baremetal:runbook:update';

export const runbooksPage = (context: PageContext): Promise<PageAnswer> =>
  listPage(context, {
    ...runbooks,
    around: async () => {
      const answers = await askedRules(context.api, [{ rule: createsRunbooks }]);
      return { end: <Way answers={answers} rule={createsRunbooks} to="/runbooks/new" label="New runbook" /> };
    },
  });

const Steps = ({ steps }: { steps: RunbookView['steps'] }) => (
  <ol class="timeline">
    {[...steps]
      .sort((one, other) => one.order - other.order)
      .map((step, at) => (
        <li key={at}>
          <div class="line">
            <b>{`${step.interface}.${step.step}`}</b>
            {Object.keys(step.args as object).length > 0 && <Code value={step.args} />}
          </div>
        </li>
      ))}
  </ol>
);

const Revisions = ({ runbook, revisions }: { runbook: RunbookView; revisions: readonly ListedRevision[] | undefined }) => (
  <Table
    heading
    caption="Revisions"
    rows={revisions}
    columns={[
      { title: 'Revision', of: ({ revision, newest }) => `${revision}${newest ? ', newest' : ''}` },
      { title: 'Made', of: ({ created_at }) => <Time at={created_at} /> },
      { title: 'By', of: ({ author }) => personOf(author) },
      { title: 'State', of: ({ withdrawn }) => (withdrawn ? <State is={`withdrawn: ${withdrawn.reason}`} tone="bad" /> : 'in use') },
      {
        title: 'Compare',
        of: ({ revision: to }) =>
          to > 1 && <a href={`${runbookPath(runbook)}/compare?from=${to - 1}&to=${to}`}>with {to - 1}</a>,
      },
    ]}
    empty="No revisions"
  />
); // biome-ignore format: one column a row

export const runbookPage = async ({ api, params }: PageContext): Promise<PageAnswer> => {
  const runbook = await api.get<RunbookView>(`/v1/runbooks/${encodeURIComponent(params.runbook!)}`);
  const [revisions, runs, answers] = await Promise.all([
    api.findList<ListedRevision>(`/temper/v1/runbooks/${runbook.uuid}/revisions`, { limit: 50 }),
    api.findList<ListedRun>('/temper/v1/runs', { runbook: runbook.uuid, state: 'any', limit: 20 }),
    askedRules(api, [{ rule: updateRule, runbook: runbook.uuid }]),
  ]);
  const body = (
    <>
      <Title
        text={runbook.name}
        end={<Way answers={answers} rule={updateRule} to={`${runbookPath(runbook)}/edit`} label="Edit" />}
      />
      <Facts
        rows={[
          ['ID', <Id id={runbook.uuid} />],
          ['Owner', ownerOf(runbook)],
          ['Revision', runbook.revision],
          ['Approved for', runbook.traits?.join(', ')],
          ['Description', runbook.description],
        ]}
      />
      <h2>Steps</h2>
      <Steps steps={runbook.steps} />
      <Revisions runbook={runbook} revisions={revisions} />
      <Table heading caption="Runs" rows={runs} columns={runColumns} newsOf={runNews} empty="No runs yet" />
    </>
  ); // biome-ignore format: one table a row
  return { title: runbook.name, body };
};

const numberIn = (text: string | undefined): string => (/^\d{1,9}$/.test(text ?? '') ? text! : '1');

export const comparePage = async ({ api, params, query }: PageContext): Promise<PageAnswer> => {
  const name = params.runbook!;
  const sides = await Promise.all(
    [query.from, query.to].map((revision) =>
      api.get<RunbookRevision>(`/temper/v1/runbooks/${encodeURIComponent(name)}/revisions/${numberIn(revision)}`),
    ),
  );
  const body = (
    <>
      <Title text="Compare revisions" />
      <div class="two">
        {sides.map((side) => (
          <section key={side.revision} aria-labelledby={`revision-${side.revision}`}>
            <h2 id={`revision-${side.revision}`}>Revision {side.revision}</h2>
            <p class="muted">
              made <Time at={side.created_at} /> by {side.author ? personOf(side.author) : 'a caller'}
            </p>
            <Steps steps={side.steps} />
          </section>
        ))}
      </div>
    </>
  );
  return { title: 'Compare revisions', crumbs: [[runbookPath({ name }), name]], body };
};
