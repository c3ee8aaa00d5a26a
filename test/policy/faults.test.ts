/** What is wrong with single checks, and what is not. */

import { walk } from '../../src/policy/language/check';
import { parseRule } from '../../src/policy/language/parse';
import { checkFaults } from '../../src/policy/reports/check-faults';
import { vocabulary } from '../../src/policy/rules/vocabulary';

const faultsOf = (text: string) =>
  [...walk(parseRule(text).check)].flatMap(({ check }) => checkFaults(check, vocabulary));

test.each([
  'is_admin_project:True',
  'is_admin_project:False',
  'is_admin_project:%(runbook.public)s',
  'project_id:p1',
  'project_id:%(node.owner)s-%(project_id)s',
  'roles:admin',
  "project_name:o'neil",
  'role:admin',
  'role:%(node.owner)s',
  "'p1':%(node.owner)s",
  'None:%(node.owner)s',
  'rule:anything',
  'http://pdp.example/%(node.owner)s',
  '@',
  '!',
])('nothing is wrong with %s', (text) => {
  expect(faultsOf(text)).toEqual([]);
});

test.each([
  ['is_admin_project:true', 'never matches', 'write is_admin_project:True or is_admin_project:False'],
  ['is_public_api:yes', 'never matches', 'is_public_api:True'],
  ['projct:x', 'no caller has a credential called "projct"', 'project_id'],
  ['project_id.name:x', 'no caller has a credential called "project_id.name"', 'use rule:, role:'],
  ['constructor:x', 'no caller has a credential called "constructor"', 'use rule:'],
  ['role:%(node.ownr)s', 'no target has a key "node.ownr"', 'node.owner'],
  ['project_id:', 'has nothing right of the colon', 'write what it must equal'],
  ['role:', 'has nothing right of the colon', 'write what it must equal'],
  ["project_id:'p1", 'the quotes right of the colon', 'remove them'],
  ['project_id:p1"', 'the quotes right of the colon', 'remove them'],
  ['role:a,b', 'as letters', 'put spaces around'],
  ['project_id:%(node.owner)s&', 'as letters', 'put spaces around'],
  ['role:100%', 'a lone %', 'use %(key)s'],
  ['Role:admin', '"Role" is taken for a credential', 'write role:'],
  ['true:%(runbook.public)s', '"true" is taken for a credential', 'write True:'],
  ['NONE:%(node.owner)s', '"NONE" is taken for a credential', 'write None:'],
  ["'a':a", 'compares two constants', 'write "@" or "!"'],
  ['class:x', '"class" in class:x cannot stand left of a colon', 'a credential or a literal'],
])('%s: %s', (text, says, fix) => {
  const faults = faultsOf(text);
  expect(faults).toHaveLength(1);
  expect(faults[0]!.text).toContain(says);
  expect(faults[0]!.fix).toContain(fix);
});

test('a check may have several faults, each of which is reported', () => {
  expect(faultsOf("projct_id:'%(node.ownr)s'").map(({ text }) => text)).toEqual([
    expect.stringContaining('quotes'),
    expect.stringContaining('"node.ownr"'),
    expect.stringContaining('"projct_id"'),
  ]);
});

test('without a vocabulary every credential and key may exist, and spelling still counts', () => {
  const free = (text: string) =>
    [...walk(parseRule(text).check)].flatMap(({ check }) => checkFaults(check, undefined)).length;
  expect(free('anything:%(of.any)s')).toBe(0);
  expect(free('is_admin_project:true')).toBe(0);
  expect(free('Role:admin')).toBe(1);
});
