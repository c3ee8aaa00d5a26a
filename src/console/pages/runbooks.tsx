/** Runbooks: the list, one with its steps, revisions and runs, and two revisions side by side. */
import type { VNode } from 'preact';
import { askedRules } from '../parts/acts';
import { Pager, pageOf, pageSize, Table } from '../parts/tables';
import { Code, Facts, Id, State, Time } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import type { RunbookView, RunListed } from '../views';
import { runColumns } from './runs';

type Revision = {
  readonly revision: number;
  readonly newest: boolean;
  readonly created_at: string;
  readonly author: { readonly user_name?: string | null; readonly user_id?: string | null } | null;
  readonly withdrawn: { readonly at: string; readonly reason: string } | null;
  readonly steps?: RunbookView['steps'];
};

const addressOf = ({ name }: { name: string }): string => `/runbooks/${encodeURIComponent(name)}`;
const ownerOf = ({ owner, public: open }: RunbookView): string => (open ? 'public' : (owner ?? 'the system'));

export const runbooksPage = async ({ api, query }: PageContext): Promise<PageAnswer> => {
  const [{ runbooks }, answers] = await Promise.all([
    api.get<{ runbooks: readonly RunbookView[] }>('/v1/runbooks', {
      detail: 'true',
      limit: pageSize + 1,
      marker: query.marker,
    }),
    askedRules(api, [{ rule: 'baremetal:runbook:create' }]),
  ]);
  const { shown, next } = pageOf(runbooks, pageSize, ({ uuid }) => uuid);
  const may = answers.get('baremetal:runbook:create');
  const body: VNode = (
    <>
      <div class="title">
        <h1>Runbooks</h1>
        {may?.allowed ? <a href="/runbooks/new">Write one</a> : <span class="muted">{may?.reason}</span>}
      </div>
      <Table
        caption="Runbooks"
        rows={shown}
        keyOf={({ uuid }) => uuid}
        columns={[
          { title: 'Name', of: (one) => <a href={addressOf(one)}>{one.name}</a> },
          { title: 'Owner', of: ownerOf },
          { title: 'Steps', of: ({ steps }) => steps?.length ?? '–' },
          { title: 'Revision', of: ({ revision }) => revision ?? '–' },
          { title: 'Approved by', of: ({ traits }) => traits?.join(', ') ?? '' },
          { title: 'Description', of: ({ description }) => description },
          { title: 'Changed', of: ({ updated_at, created_at }) => <Time at={updated_at ?? created_at} /> },
        ]}
        empty="There is no runbook that you may see. One is a list of steps that its project and, where it is approved, others run on their nodes."
      />
      <Pager path="/runbooks" query={query} next={next} />
    </>
  );
  return { title: 'Runbooks', body };
};

const Steps = ({ steps }: { steps: RunbookView['steps'] }) => (
  <ol class="timeline">
    {[...steps]
      .sort((one, other) => one.order - other.order)
      .map((step) => (
        <li key={`${step.order}${step.interface}${step.step}`}>
          <b>
            {step.interface}.{step.step}
          </b>{' '}
          {Object.keys(step.args as object).length > 0 && <Code value={step.args} />}
        </li>
      ))}
  </ol>
);

const Revisions = ({ runbook, revisions }: { runbook: RunbookView; revisions: readonly Revision[] }) => (
  <Table
    caption="Revisions"
    rows={revisions}
    keyOf={({ revision }) => String(revision)}
    columns={[
      { title: 'Revision', of: ({ revision, newest }) => `${revision}${newest ? ', newest' : ''}` },
      { title: 'Made', of: ({ created_at }) => <Time at={created_at} /> },
      { title: 'By', of: ({ author }) => author?.user_name ?? author?.user_id ?? '–' },
      {
        title: 'State',
        of: ({ withdrawn }) => (withdrawn ? <State is={`withdrawn: ${withdrawn.reason}`} tone="bad" /> : 'in use'),
      },
      {
        title: 'Compare',
        of: ({ revision }) =>
          revision > 1 && (
            <a href={`${addressOf(runbook)}/compare?from=${revision - 1}&to=${revision}`}>with {revision - 1}</a>
          ),
      },
    ]}
    empty="Its revisions cannot be read."
  />
);

export const runbookPage = async ({ api, params }: PageContext): Promise<PageAnswer> => {
  const runbook = await api.get<RunbookView>(`/v1/runbooks/${encodeURIComponent(params.runbook!)}`);
  const [revisions, runs, answers] = await Promise.all([
    api.find<{ revisions: readonly Revision[] }>(`/temper/v1/runbooks/${runbook.uuid}/revisions`, { limit: 50 }),
    api.find<{ runs: readonly RunListed[] }>('/temper/v1/runs', { runbook: runbook.uuid, state: 'any', limit: 20 }),
    askedRules(api, [{ rule: 'baremetal:runbook:update', runbook: runbook.uuid }]),
  ]);
  const may = answers.get('baremetal:runbook:update');
  const body: VNode = (
    <>
      <div class="title">
        <h1>{runbook.name}</h1>
        {may?.allowed ? <a href={`${addressOf(runbook)}/edit`}>Edit</a> : <span class="muted">{may?.reason}</span>}
      </div>
      <Facts
        rows={[
          ['Id', <Id id={runbook.uuid} />],
          ['Owner', ownerOf(runbook)],
          ['Revision', runbook.revision],
          ['Approved on nodes with', runbook.traits?.join(', ')],
          ['Description', runbook.description],
        ]}
      />
      <h2>Steps</h2>
      <Steps steps={runbook.steps} />
      <h2>Revisions</h2>
      <Revisions runbook={runbook} revisions={revisions?.revisions ?? []} />
      <h2>Where it ran</h2>
      <Table
        caption="Its runs"
        rows={runs?.runs ?? []}
        keyOf={({ uuid }) => uuid}
        columns={runColumns}
        empty="It has not run on a node that you may see."
      />
    </>
  );
  return { title: runbook.name, body };
};

const numberIn = (text: string | undefined): string => (/^\d{1,9}$/.test(text ?? '') ? text! : '1');

export const comparePage = async ({ api, params, query }: PageContext): Promise<PageAnswer> => {
  const name = params.runbook!;
  const sides = await Promise.all(
    [query.from, query.to].map((revision) =>
      api.get<Revision>(`/temper/v1/runbooks/${encodeURIComponent(name)}/revisions/${numberIn(revision)}`),
    ),
  );
  const body: VNode = (
    <>
      <h1>
        Revisions of <a href={addressOf({ name })}>{name}</a>
      </h1>
      <div class="two">
        {sides.map((side) => (
          <section key={side.revision} aria-labelledby={`revision-${side.revision}`}>
            <h2 id={`revision-${side.revision}`}>Revision {side.revision}</h2>
            <p class="muted">
              made <Time at={side.created_at} /> by {side.author?.user_name ?? side.author?.user_id ?? 'a caller'}
            </p>
            <Steps steps={side.steps ?? []} />
          </section>
        ))}
      </div>
    </>
  );
  return { title: `Revisions of ${name}`, body };
};
