/** Audit trail by day, node, person and act, and its rows as files. */
import type { AuditEntry } from '../../wire/policy';
import { askedRules } from '../parts/acts';
import { knownActs } from '../parts/audit-words';
import { type Filter, Filters, type List, listPage, wantedOf } from '../parts/list';
import { Empty, Title } from '../parts/texts';
import { addressWith, type PageQuery } from '../server/api';
import type { PageAnswer, PageContext } from '../server/context';
import { auditColumns } from './audit-columns';

export const auditPath = '/temper/v1/audit';
const auditRule = 'temper:audit:get';

export const wholeDayMs = 24 * 3_600_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** A month by its name, and the days that it has. */
const monthOf = (ms: number): readonly [name: string, days: PageQuery] => {
  const [at, next] = [0, 1].map((more) => Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth() + more));
  const name = new Date(ms).toLocaleDateString('en-GB', { month: 'long', timeZone: 'UTC' });
  return [name, { since: dayOf(at!), until: dayOf(next! - wholeDayMs) }];
};

const isDay = (text: string | undefined): boolean => !text || /^\d{4}-\d{2}-\d{2}$/.test(text);

/** A field of days holds days alone; a time, and what is none, stay as they were typed. */
const dayField = (query: PageQuery, name: 'since' | 'until', label: string): Filter =>
  isDay(query[name]) ? { name, label, type: 'date' } : { name, label, hint: 'A day, or a time with its zone' };

const filtersFor = (query: PageQuery): Filter[] => [
  dayField(query, 'since', 'From day'),
  dayField(query, 'until', 'To day'),
  { name: 'node', label: 'Node', hint: 'Name or ID' },
  { name: 'user', label: 'Person' },
  { name: 'action', label: 'Act', suggestions: knownActs },
  { name: 'verdict', label: 'Result', options: ['granted', 'refused', 'failed'] },
];

const hidden = ['run', 'project', 'request'] as const;
const auditFilters: readonly string[] = [...filtersFor({}).map(({ name }) => name), ...hidden];

/** The selection of an address, without its page. */
export const selectionOf = (query: PageQuery): PageQuery => {
  const { marker: _, ...wanted } = wantedOf(query, auditFilters);
  return wanted;
};

export const Downloads = ({ query }: { query: PageQuery }) => (
  <>
    {['csv', 'json'].map((type) => (
      <a key={type} class="button" href={addressWith(`/audit/rows.${type}`, query)} download>
        {type.toUpperCase()}
      </a>
    ))}
  </>
);

const Ends = ({ query }: { query: PageQuery }) => (
  <>
    {query.node && (
      <a
        class="button"
        href={addressWith('/audit/timeline', { node: query.node, since: query.since, until: query.until })}
      >
        Timeline of {query.node}
      </a>
    )}
    <Downloads query={query} />
  </>
);

const trailFor = ({ query }: PageContext): List<AuditEntry> => {
  const now = Date.now();
  const [thisMonth, lastMonth] = [monthOf(now), monthOf(Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth() - 1))]; // biome-ignore format: one row
  const today = dayOf(now);
  return {
    title: 'Audit',
    path: '/audit',
    from: auditPath,
    filters: filtersFor(query),
    also: hidden,
    views: [
      ['All', {}],
      ['Today', { since: today, until: today }],
      thisMonth,
      lastMonth,
      ['Refused', { verdict: 'refused' }],
      ['Failed', { verdict: 'failed' }],
    ],
    markerOf: ({ seq }) => String(seq),
    columns: auditColumns,
    empty: 'No entries yet',
    around: async () => ({ end: <Ends query={selectionOf(query)} /> }),
  };
};

/** Tenants read the part of one node; the API wants its name. */
const NameANode = ({ query }: { query: PageQuery }) => (
  <>
    <Title text="Audit" />
    <div class="tools">
      <Filters path="/audit" query={query} filters={filtersFor(query)} />
    </div>
    <Empty icon="scroll-text" title="Name one of your nodes.">
      <p>
        You see who changed it since it is yours. All entries need the permission <code>{auditRule}</code>.
      </p>
    </Empty>
  </>
);

export const auditPage = async (context: PageContext): Promise<PageAnswer> => {
  const { api, query } = context;
  const isWhole = query.node || (await askedRules(api, [{ rule: auditRule }])).get(auditRule)?.allowed;
  return isWhole
    ? listPage(context, trailFor(context))
    : { title: 'Audit', status: 403, body: <NameANode query={query} /> };
};
