/** Where the sets differ, and where strict mode differs from the reference: lists that a reader without code can audit. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPolicy, diffPolicies, membersWith, personas, renderDifference } from '../../src/policy';

const root = join(__dirname, '../..');
const allCallers = membersWith([]);

/** The first indented block of a record. */
const blockOf = (path: string): string => {
  const [, block = ''] = /```text\n([\s\S]*?)```/.exec(readFileSync(join(root, path), 'utf8')) ?? [];
  return block;
};

test('set temper differs from set ironic in the cells that the decision lists, and in no other', () => {
  const difference = diffPolicies(createPolicy({ set: 'ironic' }), createPolicy({ set: 'temper' }), allCallers);
  expect(renderDifference(difference)).toBe(blockOf('docs/decisions/0022-where-temper-differs.md'));
});

test('strict mode changes of set ironic the cells that the decision lists, and closes all of them', () => {
  const compat = createPolicy({ set: 'ironic', mode: 'compat' });
  const difference = diffPolicies(compat, createPolicy({ set: 'ironic' }), allCallers);
  expect(renderDifference(difference)).toBe(blockOf('docs/decisions/0023-strict-and-compat.md'));
  expect(difference.changes.filter(({ does }) => does === 'gains')).toEqual([]);
});

test('equal policies do not differ', () => {
  const one = createPolicy({ set: 'temper' });
  const difference = diffPolicies(one, createPolicy({ set: 'temper' }), allCallers);
  expect(difference).toMatchObject({ changed: 0, changes: [] });
  expect(renderDifference(difference)).toBe('No cell changes.\n');
});

test('rules that change alike are printed together, from the lowest role upward', () => {
  const overrides = {
    'baremetal:node:set_power_state': 'role:reader and project_id:%(node.lessee)s',
    'baremetal:node:set_boot_mode': 'role:reader and project_id:%(node.lessee)s',
  };
  const after = createPolicy({ set: 'temper', overrides });
  const { changes } = diffPolicies(createPolicy({ set: 'temper' }), after, allCallers);
  expect(changes.filter(({ does }) => does === 'gains')).toEqual([
    {
      does: 'gains',
      on: ['A node that "owner" owns and "lessee" leases'],
      who: { lessee: ['reader'] },
      rules: ['baremetal:node:set_power_state', 'baremetal:node:set_boot_mode'],
    },
  ]);
  expect(renderDifference({ cells: 1, changed: 1, changes })).toContain('system member and above, service');
});

test('roles of the operator’s own are callers too', () => {
  const overrides = { 'baremetal:node:inject_nmi': 'role:night_shift and system_scope:all' };
  const after = createPolicy({ set: 'temper', overrides });
  const before = createPolicy({ set: 'temper' });
  const { changes } = diffPolicies(before, after, membersWith(['night_shift']));
  expect(changes.find(({ does }) => does === 'gains')?.who).toEqual({ system: ['night_shift'] });
  expect(after.allows('baremetal:node:inject_nmi', personas['system-admin'])).toBe(false);
});
