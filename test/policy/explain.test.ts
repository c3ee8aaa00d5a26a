/** An explanation says what the decision says, and which check it failed at. */

import { createPolicy, nearestTo, nodeTarget, type Part, personas, readPolicy } from '../../src/policy';

const policy = createPolicy({ set: 'temper' });
const node = nodeTarget({ owner: 'project-owner', lessee: 'project-lessee' });
const provision = 'baremetal:node:set_provision_state';

const leaves = (part: Part): Part[] => (part.parts ? part.parts.flatMap(leaves) : [part]);

test('a refused lessee reads the check that failed, what it compared, and where the rule comes from', () => {
  const told = policy.explain(provision, personas['lessee-member'], node);
  expect(told).toMatchObject({
    rule: provision,
    verdict: 'refused',
    why: 'check',
    scope: { caller: 'project', admitted: ['system', 'project'] },
    from: { rule: provision, from: 'default' },
  });
  expect(leaves(told.tree!).find(({ text }) => text === 'project_id:%(node.lessee)s')).toMatchObject({
    verdict: 'true',
    compared: { caller: ['project-lessee'], wanted: 'project-lessee' },
  });
  const [failed, ...others] = nearestTo(told.tree!);
  expect(others).toEqual([]);
  expect(failed).toMatchObject({ verdict: 'false', compared: { caller: ['member', 'reader'] } });
});

test('every leaf has its verdict, also where another had decided before it', () => {
  const told = policy.explain(provision, personas['system-admin'], node);
  expect(told.verdict).toBe('allowed');
  expect(leaves(told.tree!).filter(({ verdict }) => verdict === 'not asked')).toEqual([]);
  expect(nearestTo(told.tree!)).toEqual([]);
});

test('a wrong scope refuses whatever the text says', () => {
  const told = policy.explain('baremetal:driver:get', personas['owner-admin']);
  expect(told).toMatchObject({ verdict: 'refused', why: 'scope', scope: { caller: 'project', admitted: ['system'] } });
});

test('a rule without a definition is said to be unknown', () => {
  expect(policy.explain('baremetal:node:dance', personas['system-admin'])).toMatchObject({
    verdict: 'refused',
    why: 'unknown',
    tree: null,
  });
});

test('a rule of a file comes from its line, through references too', () => {
  const source = readPolicy(
    '# note\n"mine": "role:member and rule:is_node_owner"\n"baremetal:node:get": "rule:mine"',
    'p.yaml',
  );
  const told = createPolicy({ set: 'temper', ...source }).explain('baremetal:node:get', personas['owner-member'], node);
  expect(told.from).toEqual({ rule: 'baremetal:node:get', from: 'file', origin: { file: 'p.yaml', line: 3 } });
  expect(told.tree).toMatchObject({ is: 'rule', verdict: 'true', to: { origin: { file: 'p.yaml', line: 2 } } });
});

test('a text from an old name, and one that is admitted beside the new, are shown as such', () => {
  const old = readPolicy('"baremetal:node:update": "role:member"', 'p.yaml');
  const told = createPolicy({ set: 'ironic', ...old }).explain('baremetal:node:update:name', personas['owner-member']);
  expect(told.from).toMatchObject({ from: 'deprecated', oldName: 'baremetal:node:update', origin: { line: 1 } });
  const both = createPolicy({ set: 'ironic', newDefaults: false }).explain(provision, personas['owner-member']);
  expect(both.from).toMatchObject({ from: 'default', admitsOld: true });
});

test('a check that cannot be evaluated is a fault, and refuses', () => {
  const compat = createPolicy({ set: 'ironic', mode: 'compat', overrides: { [provision]: 'class:x or role:reader' } });
  const told = compat.explain(provision, personas['system-admin'], node);
  expect(told).toMatchObject({ verdict: 'refused', why: 'fault', tree: { verdict: 'fault' } });
  expect(compat.allows(provision, personas['system-admin'], node)).toBe(false);
});

test('remote checks behind what has decided are left alone', () => {
  const asked: string[] = [];
  const remote = ({ url }: { url: string }): string => {
    asked.push(url);
    return 'True';
  };
  const overrides = { [provision]: 'role:reader or http://pdp.example/x' };
  const asking = createPolicy({ set: 'temper', overrides, remote });
  const told = asking.explain(provision, personas['owner-reader'], node);
  expect(leaves(told.tree!).map(({ verdict }) => verdict)).toEqual(['true', 'not asked']);
  expect(asked).toEqual([]);
});

test('a circle, which compat mode lets in, is a fault and no endless text', () => {
  const circle = createPolicy({ set: 'ironic', mode: 'compat', overrides: { [provision]: `rule:${provision}` } });
  expect(circle.explain(provision, personas['system-admin'], node)).toMatchObject({ verdict: 'refused', why: 'fault' });
});
