/** Audit trail: each request with its caller, rule and result. */

import type { AuditEntry } from '../../wire/policy';
import { type List, listPage } from '../parts/list';
import type { Column } from '../parts/tables';
import { Code, Id, personOf, State, Time } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';

export const auditColumns: readonly Column<AuditEntry>[] = [
  { title: 'When', of: ({ at }) => <Time at={at} /> },
  { title: 'Who', of: ({ who }) => `${personOf(who)}${who.project_name ? ` (${who.project_name})` : ''}` },
  { title: 'Action', of: ({ action }) => action },
  { title: 'Verdict', of: ({ verdict }) => <State is={verdict} /> },
  { title: 'Rule', of: ({ rule }) => rule && <code>{rule}</code> },
  { title: 'Object', of: ({ resource, resource_id: id }) => (id ? <>{resource} <Id id={id} /></> : resource) }, // biome-ignore format: one cell
  { title: 'Run', of: ({ run_uuid: run }) => run && <Id id={run} href={`/runs/${run}`} /> },
  { title: 'Data', long: true, of: ({ data }) => data !== undefined && <details><summary>Show</summary><Code value={data} /></details> }, // biome-ignore format: one cell
];

const trail: List<AuditEntry> = {
  title: 'Audit',
  path: '/audit',
  from: '/temper/v1/audit',
  filters: [
    { name: 'user', label: 'Person' },
    { name: 'node', label: 'Node' },
    { name: 'run', label: 'Run ID' },
    { name: 'action', label: 'Action' },
    { name: 'verdict', label: 'Verdict', options: ['granted', 'refused', 'failed'] },
    { name: 'since', label: 'Since', hint: 'Day in UTC, or a time: 2026-11-30T18:00:00Z' },
    { name: 'until', label: 'Until' },
  ],
  also: ['project'],
  views: [
    ['All', {}],
    ['Refused', { verdict: 'refused' }],
    ['Failed', { verdict: 'failed' }],
  ],
  markerOf: ({ seq }) => String(seq),
  columns: auditColumns,
  empty: 'No entries yet',
};

export const auditPage = (context: PageContext): Promise<PageAnswer> => listPage(context, trail);
