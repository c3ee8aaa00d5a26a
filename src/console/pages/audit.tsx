/** The audit trail: who asked for what, by which rule, and what became of it. */
import type { VNode } from 'preact';
import { Choice, Field } from '../parts/forms';
import { Pager, pageSize, Table } from '../parts/tables';
import { Code, Id, State, Time } from '../parts/texts';
import type { PageAnswer, PageContext, PageQuery } from '../server/context';

const auditFilters = ['node', 'project', 'run', 'user', 'action', 'verdict', 'since', 'until', 'marker'] as const;

type Entry = {
  readonly seq: number;
  readonly at: string;
  readonly action: string;
  readonly verdict: string;
  readonly rule?: string | null;
  readonly resource?: string | null;
  readonly resource_id?: string | null;
  readonly run_uuid?: string | null;
  readonly who: {
    readonly user_name?: string | null;
    readonly user_id?: string | null;
    readonly project_name?: string | null;
  };
  readonly data?: unknown;
};

const Filters = ({ query }: { query: PageQuery }) => (
  <form method="get" action="/audit" class="row" aria-label="Filters">
    <Field label="Person" name="user" value={query.user} />
    <Field label="Node id" name="node" value={query.node} />
    <Field label="Run id" name="run" value={query.run} />
    <Field label="Act" name="action" value={query.action} hint="such as node.provision" />
    <Choice
      label="Verdict"
      name="verdict"
      value={query.verdict}
      options={[
        ['', 'any'],
        ['allowed', 'allowed'],
        ['denied', 'denied'],
      ]}
    />
    <Field label="Since" name="since" value={query.since} hint="such as 2026-11-30T18:00:00Z" />
    <Field label="Until" name="until" value={query.until} />
    <button type="submit">Filter</button>
  </form>
);

const auditColumns = [
  { title: 'When', of: ({ at }: Entry) => <Time at={at} /> },
  {
    title: 'Who',
    of: ({ who }: Entry) => `${who.user_name ?? who.user_id ?? '–'}${who.project_name ? ` (${who.project_name})` : ''}`,
  },
  { title: 'Act', of: ({ action }: Entry) => action },
  { title: 'Verdict', of: ({ verdict }: Entry) => <State is={verdict} /> },
  { title: 'Rule', of: ({ rule }: Entry) => rule && <code>{rule}</code> },
  { title: 'Object', of: ({ resource, resource_id: id }: Entry) => (id ? <>{resource} <Id id={id} /></> : resource) }, // biome-ignore format: one cell
  { title: 'Run', of: ({ run_uuid: run }: Entry) => run && <Id id={run} href={`/runs/${run}`} /> },
  { title: 'Data', of: ({ data }: Entry) => data !== undefined && <details><summary>Show</summary><Code value={data} /></details> }, // biome-ignore format: one cell
];

export const auditPage = async ({ api, query }: PageContext): Promise<PageAnswer> => {
  const wanted: PageQuery = Object.fromEntries(auditFilters.map((name) => [name, query[name] || undefined]));
  const { audit, next } = await api.get<{ audit: readonly Entry[]; next?: string }>('/temper/v1/audit', {
    ...wanted,
    limit: pageSize,
  });
  const body: VNode = (
    <>
      <h1>Audit</h1>
      <Filters query={query} />
      <Table
        caption="Audit trail"
        rows={audit}
        keyOf={({ seq }) => String(seq)}
        columns={auditColumns}
        empty="Nothing of this kind is on record."
      />
      <Pager path="/audit" query={wanted} next={next && String(audit.at(-1)!.seq)} />
    </>
  );
  return { title: 'Audit', body };
};
