/** What was seen of the plans as a document: what is small, what is read whole and why, and how each request finds its rows. */
import type { Asked } from './asked';
import { exceptions, indexedOrders, isSortedWhole, mostRows, smallTables } from './expected';
import type { Looked } from './look';

/** To two digits: a page more or less depends on when the store last tidied up. */
const about = (count: number): string => {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(count, 1))) - 1);
  return (Math.round(count / unit) * unit).toLocaleString('en');
};

const uuids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const asWritten = ({ path }: Asked): string => decodeURIComponent(path).replace(uuids, '…');

/** Months of the audit trail are read alike, so one stands for all. */
const short = (shape: string): string =>
  shape.replace(/audit_\d{4}_\d{2}/g, 'audit_MONTH').replace(/(, [A-Za-z ]+ Scan audit_MONTH[a-z_]*)+/g, ', …');

const planOf = ({ withValues, forAny }: Looked): string => {
  const shape = short(withValues.shape);
  return short(forAny.shape) === shape ? shape : `${shape}; for any values: ${short(forAny.shape)}`;
};

const row = (one: Looked): string =>
  `| \`${asWritten(one.asked)}\` | ${about(one.withValues.rowsRead)} | ${about(one.withValues.pages)} | ${planOf(one)} |`;

/** The first two parts of a path: what a section is about. */
const sectionOf = ({ asked: { path } }: Looked): string =>
  path
    .split('?')[0]!
    .split('/')
    .slice(1, path.startsWith('/temper') ? 4 : 3)
    .join('/');

const section = (title: string, looked: readonly Looked[]): string[] => {
  const by = (as: Asked['as']) => looked.filter(({ asked }) => asked.as === as && !isSortedWhole(asked)).map(row);
  const rows = [...by('operator'), ...by('lessee').map((line) => line.replace('| `', '| as a lessee: `'))];
  return [`### ${title}`, '', '| Request | Rows | Pages | Plan |', '|---|---|---|---|', ...new Set(rows), ''];
};

const orders = Object.entries(indexedOrders).map(([path, keys]) => `| \`${path}\` | ${keys.join(', ')} |`);

/** @param nodes how many nodes were seeded */
export const renderPlans = (looked: readonly Looked[], nodes: number): string => {
  const sections = new Map<string, Looked[]>();
  for (const one of looked) sections.set(sectionOf(one), [...(sections.get(sectionOf(one)) ?? []), one]);
  return `${[
    '# Plans',
    '',
    `Written as a whole by \`npm run bench -- --only plans\` (not with \`--quick\`); nothing is by hand. It shows how PostgreSQL finds what the API asks for, among ${nodes.toLocaleString('en')} nodes and as many ports.`,
    'The bench fills a database of its own, asks the API for every list by every filter and order and for every object by its names,',
    'and looks at the plan of each statement, once with its values and once as a connection plans it that has sent it often.',
    '`test/inventory/plans.test.ts` does the same with fewer nodes and refuses what is not excused here.',
    '',
    'Rows are those that were looked at, wanted or not; pages are of 8 KiB, to two digits. `limit` and what only passes rows on is left out.',
    'The role `temper_api` plans with `random_page_cost` 1.1.',
    '',
    '## Small tables',
    '',
    'They may be read from one end to the other.',
    '',
    '| Table | Why it stays small |',
    '|---|---|',
    ...Object.entries(smallTables).map(([name, why]) => `| ${name} | ${why} |`),
    '| months of audit to come | empty |',
    '',
    '## Orders with an index',
    '',
    'Beside `id`, the order of creation. A page by one of them costs the same wherever it lies.',
    '',
    '| Collection | Sort keys |',
    '|---|---|',
    ...orders,
    '',
    '## What looks at more than it shows',
    '',
    `All else looks at no more than ${mostRows.toLocaleString('en')} rows for a page of 1,000.`,
    '',
    ...exceptions.map(({ what, why }) => `- ${what}: ${why}.`),
    '',
    '## Statements',
    '',
    ...[...sections].flatMap(([title, found]) => section(title, found)),
  ]
    .join('\n')
    .trimEnd()}\n`;
};
