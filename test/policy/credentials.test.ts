/** A caller in the spelling that rules use. */
import { anonymous } from '../../src/model/access/callers';
import { createPolicy } from '../../src/policy';
import { credentialKeys, credentialsOf, normalise, serviceProjectKey } from '../../src/policy/engine/credentials';
import { inProject, inSystem } from './support';

test('`system` is the system scope, where there is one', () => {
  expect(normalise({ system_scope: 'all' })).toEqual({ system_scope: 'all', system: 'all' });
  expect(normalise({ system_scope: 'all', system: 'other' })).toEqual({ system_scope: 'all', system: 'all' });
  const complete = { system_scope: 'all', system: 'all' };
  expect(normalise(complete)).toBe(complete);
});

test.each([[{}], [{ system_scope: null }], [{ system_scope: '' }]])('%j has no `system`', (credentials) => {
  expect(Object.keys(normalise(credentials))).not.toContain('system');
  expect(Object.keys(credentialsOf(inProject('p1', 'member'), null))).not.toContain('system');
});

test('every credential of a caller is one that rules may name', () => {
  for (const who of [anonymous, inSystem('admin'), inProject('p1', 'member')])
    expect(Object.keys(credentialKeys)).toEqual(expect.arrayContaining(Object.keys(credentialsOf(who, null))));
});

test('the project of elevated service users is there only where a deployment names one', () => {
  expect(credentialsOf(anonymous, null)).not.toHaveProperty([serviceProjectKey]);
  expect(credentialsOf(anonymous, 'service')).toHaveProperty([serviceProjectKey], 'service');
});

test('other projects of a caller that are not known keep a decision that needs them from being made', () => {
  const who = { ...inProject('p1', 'admin'), admin_projects: null };
  const policy = (text: string) => createPolicy({ set: 'temper', overrides: { 'baremetal:node:get': text } });
  const needing = policy('admin_projects:%(node.owner)s');
  const target = { 'node.owner': 'p2', 'node.lessee': null };
  const unavailable = expect.objectContaining({ code: 'IdentityUnavailable' });
  expect(() => needing.allows('baremetal:node:get', who, target)).toThrow(unavailable);
  expect(() => needing.filter('baremetal:node:get', who, { 'node.owner': 'owner' })).toThrow(unavailable);
  expect(policy('role:admin').allows('baremetal:node:get', who, target)).toBe(true);
});
