/** docs/results.md repeats figures of the reports: those that can be read from a table are compared. */
import { partOf, readDocument, tableOf } from '../support/documents';

const page = readDocument('docs/results.md');
const report = (name: string): string => readDocument(`reports/${name}.md`);

/** As a forge makes them of headings. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^##+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));

const linksToReports = [...page.matchAll(/\]\(\.\.\/reports\/(\w+)\.md(?:#([\w-]+))?\)/g)];

test('every heading of a report that the page links to is there', () => {
  expect(linksToReports.length).toBeGreaterThan(30);
  const missing = linksToReports
    .filter(([, name, anchor]) => anchor !== undefined && !anchorsOf(report(name!)).includes(anchor))
    .map(([link]) => link);
  expect(missing).toEqual([]);
});

const summary = /^(\d+) runs: (\d+) ended well, (\d+) parked [^,]+,(?: (\d+) left .*\),)? (\d+) failed, 0 not reached/m;

test('the totals of chaos are those of its sections', () => {
  const sections = report('chaos').split(/^## /m).slice(1);
  const said = (anchor: string): string[] => {
    const section = sections.find((text) => anchorOf(text.split('\n')[0]!) === anchor)!;
    const [, ...counts] = summary.exec(section)!;
    return counts.map((count) => count || '0');
  };
  const rows = tableOf(partOf(page, 'Chaos tests')).slice(1);
  expect(rows.length).toBe(5);
  for (const [harm, ...counts] of rows) expect(counts).toEqual(said(/#([\w-]+)/.exec(harm!)![1]!));
  const all = rows.reduce((sum, [, runs]) => sum + Number(runs), 0);
  expect(page).toContain(`${all.toLocaleString('en')} runs disturbed`);
});

test('what is shown beside Ironic is in the tables of the report', () => {
  const measured = tableOf(partOf(report('performance'), 'Beside Ironic'));
  const rows = tableOf(partOf(page, 'Performance')).filter(([name]) => measured.some(([other]) => other === name));
  expect(rows.length).toBe(20);
  for (const row of rows) {
    const whole = measured.find(([name]) => name === row[0])!;
    expect(row.filter((cell) => !whole.includes(cell))).toEqual([]);
  }
});

test('every attack names a test that the report names', () => {
  const known = report('security');
  const named = [...partOf(page, 'Security tests').matchAll(/`(test\/[^`]+)\.test\.ts`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !known.includes(path) && path !== 'test/advisories/ironic')).toEqual([]);
});
