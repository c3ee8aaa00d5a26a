/** How a difference, a sample file and the roles of an operator's own are printed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPolicy, createShadow, membersWith, nodeTarget, personas, renderDifference } from '../../src/policy';
import type { Change } from '../../src/policy/reports/diff';
import { customRoles, supportersFor } from '../../src/policy/reports/matrix-cells';
import { renderSample } from '../../src/policy/reports/sample';

const change = (more: Partial<Change>): Change => ({
  does: 'gains',
  on: ['A public runbook'],
  who: { system: ['reader'] },
  rules: ['baremetal:runbook:get'],
  ...more,
});
const whoIn = (who: Change['who']): string =>
  renderDifference({ cells: 9, changed: 1, changes: [change({ who })] })
    .split('\n')[1]!
    .trim();

test.each([
  [{ owner: ['admin'] }, 'owner admin'],
  [{ owner: ['admin', 'manager'] }, 'owner manager and above'],
  [{ owner: ['admin', 'manager', 'member', 'reader', 'service'] }, 'owner reader and above, service'],
  [{ owner: ['admin', 'member'] }, 'owner member, admin'],
  [{ owner: ['member', 'reader'] }, 'owner reader, member'],
  [{ owner: ['service'] }, 'owner service'],
  [{ system: ['night_shift'] }, 'system role night_shift'],
  [{ stranger: ['admin who is admin of the owner too'] }, 'stranger admin who is admin of the owner too'],
  [{ system: ['admin'], lessee: ['member'] }, 'system admin; lessee member'],
])('callers %j are printed as "%s"', (who, text) => {
  expect(whoIn(who)).toBe(text);
});

test('gains are printed before losses, each under its callers and objects, and the cells are counted', () => {
  const changes = [change({ does: 'loses', on: ['A public runbook', 'any node'] }), change({ rules: ['a', 'b'] })];
  expect(renderDifference({ cells: 9, changed: 3, changes })).toBe(
    `May now, could not before
  system reader
    a public runbook:
      a
      b

May no longer
  system reader
    a public runbook; any node:
      baremetal:runbook:get

3 cells change.
`,
  );
});

test('one cell changes, two change, and a side without a change is not printed', () => {
  const text = (changed: number) => renderDifference({ cells: 9, changed, changes: [change({})] });
  expect(text(1)).toMatch(/\n1 cell changes\.\n$/);
  expect(text(2)).toMatch(/\n2 cells change\.\n$/);
  expect(text(1)).not.toContain('May no longer');
  expect(renderDifference({ cells: 9, changed: 0, changes: [] })).toBe('No cell changes.\n');
});

test('a role of an operator’s own stands in each group as a reader with its project or scope', () => {
  const own = membersWith(['ops']).filter(({ role }) => role === 'ops');
  expect(own.map(({ group, who }) => [group, who.project_id, who.system_scope, who.roles])).toEqual([
    ['system', null, 'all', ['reader', 'ops']],
    ['owner', 'project-owner', null, ['reader', 'ops']],
    ['lessee', 'project-lessee', null, ['reader', 'ops']],
    ['stranger', 'project-stranger', null, ['reader', 'ops']],
  ]);
});

test('roles of an operator’s own are those that a file names and the product does not, each once', () => {
  expect(customRoles()).toEqual([]);
  expect(
    customRoles({
      a: 'role:night_shift or role:admin or role:observer',
      b: 'not role:night_shift and role:storage',
      c: 'role:%(node.owner)s or role:',
    }),
  ).toEqual(['night_shift', 'storage']);
  const many = Array.from({ length: 30 }, (_, at) => `role:r${at}`).join(' or ');
  expect(customRoles({ a: many })).toHaveLength(20);
});

test('admins of several projects are callers where a file distinguishes them from others', () => {
  expect(supportersFor()).toEqual([]);
  expect(supportersFor({ a: 'project_id:%(node.owner)s or role:admin_projects' })).toEqual([]);
  const found = supportersFor({ a: 'role:admin and admin_projects:%(node.owner)s' });
  expect(found.map(({ group, who }) => [group, who.admin_projects])).toEqual([
    ['stranger', ['project-owner']],
    ['stranger', ['project-lessee']],
  ]);
});

test('the committed sample is that of the default set, and every rule of it is commented out', () => {
  const text = readFileSync(join(__dirname, '../../docs/policy-sample.yaml'), 'utf8');
  expect(text.slice(text.indexOf('# Every rule'))).toBe(renderSample('temper'));
  expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
});

describe('a second policy beside the first', () => {
  const rule = 'baremetal:node:set_power_state';
  const node = nodeTarget({ owner: 'project-owner', lessee: null });
  const first = createPolicy({ set: 'temper' });
  const open = createPolicy({ set: 'temper', overrides: { [rule]: 'role:reader' } });

  test('reports the most frequent difference first, with when it was seen first and last', () => {
    let clock = 0;
    const { beside, report } = createShadow(open, { now: () => new Date(clock) });
    const policy = beside(first);
    clock = 1_000;
    policy.allows(rule, personas['stranger-reader'], node);
    for (clock = 2_000; clock < 5_000; clock += 1_000) policy.allows(rule, personas['owner-reader'], node);
    policy.allows(rule, personas['owner-reader'], node);
    const same = { rule, would: 'allow', scope: 'project', roles: ['reader'] };
    expect(report()).toMatchObject({
      since: '1970-01-01T00:00:00.000Z',
      differences: [{ ...same, count: 5, first: '1970-01-01T00:00:01.000Z', last: '1970-01-01T00:00:05.000Z' }],
    });
    policy.allows(rule, { ...personas['owner-reader'], roles: ['reader', 'b', 'a'] }, node);
    expect(report().differences.map(({ count, roles }) => [count, roles])).toEqual([
      [5, ['reader']],
      [1, ['a', 'b', 'reader']],
    ]);
  });

  test('that breaks is not passed over', () => {
    const failing: typeof open = {
      ...open,
      allows: () => {
        throw new TypeError('broken');
      },
    };
    const policy = createShadow(failing, { now: () => new Date(0) }).beside(first);
    expect(() => policy.allows(rule, personas['owner-reader'], node)).toThrow('broken');
  });
});
