/** A second policy beside the first: asked the same, counted, and without effect. */

import { isTemperError } from '../../src/model/errors';
import { createPolicy, createShadow, nodeTarget, personas } from '../../src/policy';

const node = nodeTarget({ owner: 'project-owner', lessee: null });
const rule = 'baremetal:node:set_power_state';
const first = createPolicy({ set: 'temper' });
const second = createPolicy({ set: 'temper', overrides: { [rule]: 'role:reader and project_id:%(node.owner)s' } });

const shadowed = () => {
  const told: string[] = [];
  const shadow = createShadow(second, {
    now: () => new Date(0),
    onNew: ({ rule: name, would }) => told.push(`new ${would} ${name}`),
    onDifference: (name, would) => told.push(`${would} ${name}`),
  });
  return { ...shadow, told };
};

test('the first policy decides, whatever the second says', () => {
  const { beside } = shadowed();
  const policy = beside(first);
  expect(policy.hash).toBe(first.hash);
  expect(policy.allows(rule, personas['owner-reader'], node)).toBe(false);
  expect(policy.allows(rule, personas['system-member'], node)).toBe(true);
  try {
    policy.require(rule, personas['owner-reader'], node);
    throw new Error('admitted');
  } catch (thrown) {
    expect(isTemperError(thrown, 'PolicyDenied')).toBe(true);
  }
  policy.require(rule, personas['system-member'], node);
});

test('differences are counted by rule, direction and kind of caller, without an id', () => {
  const { beside, report, told } = shadowed();
  const policy = beside(first);
  policy.allows(rule, personas['owner-reader'], node);
  policy.allows(rule, personas['owner-reader'], node);
  policy.allows(rule, personas['system-member'], node);
  policy.allows(rule, personas['owner-member'], node);
  expect(report()).toMatchObject({
    hash: second.hash,
    decisions: 4,
    left_out: 0,
    differences: [
      { rule, would: 'allow', scope: 'project', roles: ['reader'], count: 2 },
      { rule, would: 'refuse', scope: 'system', roles: ['member', 'reader'], count: 1 },
    ],
  });
  expect(JSON.stringify(report())).not.toContain('project-owner');
  expect(told.filter((line) => line.startsWith('new'))).toEqual([`new allow ${rule}`, `new refuse ${rule}`]);
  expect(told.filter((line) => !line.startsWith('new'))).toHaveLength(3);
});

test('callers with ever other roles do not fill the memory', () => {
  const { beside, report } = shadowed();
  const policy = beside(first);
  for (let at = 0; at < 1_200; at += 1)
    policy.allows(rule, { ...personas['owner-reader'], roles: ['reader', `role-${at}`] }, node);
  expect(report().differences).toHaveLength(1_000);
  expect(report().left_out).toBe(200);
});

test('a second policy that needs what is not known holds no request up, and counts nothing', () => {
  const asking = createPolicy({ set: 'temper', overrides: { [rule]: 'role:admin and admin_projects:%(node.owner)s' } });
  const { beside, report } = createShadow(asking, { now: () => new Date(0) });
  const adrift = { ...personas['owner-admin'], admin_projects: null };
  const policy = beside(first);
  expect(policy.allows(rule, adrift, node)).toBe(true);
  policy.require(rule, adrift, node);
  expect(report()).toMatchObject({ decisions: 0, differences: [] });
  expect(() =>
    createShadow(first, { now: () => new Date(0) })
      .beside(asking)
      .allows(rule, adrift, node),
  ).toThrow(expect.objectContaining({ code: 'IdentityUnavailable' }));
});
