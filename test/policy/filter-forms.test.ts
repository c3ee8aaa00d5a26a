/** What becomes of single checks as a list's filter, form by form. */
import { anonymous, type Caller } from '../../src/model/access/callers';
import type { Predicate } from '../../src/model/predicates';
import { createPolicy, type Mode } from '../../src/policy';
import { inProject } from './support';

const columns = { 'node.owner': 'owner', 'node.lessee': 'lessee', 'runbook.public': 'public' };
const p1: Caller = { ...inProject('p1', 'reader'), admin_projects: ['p1', 'p2'] };

const filterOf = (text: string, who: Caller, mode: Mode): Predicate =>
  createPolicy({ set: 'temper', mode, remote: () => 'True', overrides: { 'baremetal:node:get': text } }).filter(
    'baremetal:node:get',
    who,
    columns,
  );

const all: Predicate = { is: 'true' };
const none: Predicate = { is: 'false' };
const equals = (column: string, value: string | boolean): Predicate => ({ is: 'equals', column, value });
const isNull = (column: string): Predicate => ({ is: 'null', column });
const either = (...any: Predicate[]): Predicate => ({ is: 'or', any });

type Row = [text: string, who: Caller, filter: Predicate];

const inBoth: Row[] = [
  ['project_id:%(node.owner)s', p1, equals('owner', 'p1')],
  ['project_id:p1', p1, all],
  ['project_id:p2', p1, none],
  ["'p1':%(project_id)s", p1, all],
  ['project_id:%(allocation.owner)s', p1, none],
  ["'None':%(allocation.owner)s", p1, none],
  ["'undefined':%(allocation.owner)s", p1, none],
  ['admin_projects:%(node.owner)s', p1, { is: 'among', column: 'owner', values: ['p1', 'p2'] }],
  ['admin_projects:%(node.owner)s', { ...p1, admin_projects: ['p1'] }, equals('owner', 'p1')],
  ['admin_projects:%(node.owner)s', { ...p1, admin_projects: [] }, none],
  ["'a-x-b':a-%(node.owner)s-b", p1, equals('owner', 'x')],
  ["'a-x-c':a-%(node.owner)s-b", p1, none],
  ["'c-x-b':a-%(node.owner)s-b", p1, none],
  ["'aba':ab%(node.owner)sba", p1, none],
  ["'abba':ab%(node.owner)sba", p1, equals('owner', '')],
  ["'p1-x':%(project_id)s-%(node.owner)s", p1, equals('owner', 'x')],
  ["'x-p1':%(node.owner)s-%(project_id)s", p1, equals('owner', 'x')],
  ['True:%(runbook.public)s', p1, equals('public', true)],
  ['False:%(runbook.public)s', p1, equals('public', false)],
  ["'yes':%(runbook.public)s", p1, none],
  ["'constructor':%(runbook.public)s", p1, none],
  ["'None':%(node.lessee)s", p1, equals('lessee', 'None')],
  ['role:READER', p1, all],
  ['role:admin', p1, none],
  ['role:%(user_id)s', { ...p1, user_id: 'Reader' }, all],
  ['role:%(allocation.owner)s', p1, none],
  ['role:%(node.owner)s', p1, none],
  ['not role:%(node.owner)s', p1, none],
  ['role:reader or role:%(node.owner)s', p1, all],
  ["'p1':%(node.owner)s%(node.lessee)s", p1, none],
  ["not 'p1':%(node.owner)s%(node.lessee)s", p1, none],
  ["not (not 'p1':%(node.owner)s%(node.lessee)s)", p1, none],
  ['http://pdp.example/%(node.owner)s', p1, none],
  ['not http://pdp.example/ask', p1, none],
  ['not project_id:%(node.owner)s', p1, { is: 'not', of: equals('owner', 'p1') }],
  ['project_id:None', anonymous, all],
];

const inStrict: Row[] = [
  ['None:%(node.owner)s', p1, isNull('owner')],
  ['None:%(node.lessee)s', p1, isNull('lessee')],
  ['None:%(domain_id)s', p1, all],
  ['None:No%(node.owner)s', p1, equals('owner', 'ne')],
  ['None:%(project_id)s', p1, none],
  ['None:%(allocation.owner)s', p1, none],
  ["'None':%(node.owner)s", p1, equals('owner', 'None')],
  ["'None':%(domain_id)s", p1, none],
  ['project_id:%(node.owner)s', anonymous, none],
  ['project_id:x%(node.owner)s', anonymous, none],
  ["'x-None':x-%(node.owner)s", p1, equals('owner', 'None')],
];

const inCompat: Row[] = [
  ['None:%(node.owner)s', p1, either(equals('owner', 'None'), isNull('owner'))],
  ['None:%(node.lessee)s', p1, equals('lessee', 'None')],
  ['None:%(domain_id)s', p1, all],
  ["'None':%(node.owner)s", p1, either(equals('owner', 'None'), isNull('owner'))],
  ["'None':%(domain_id)s", p1, all],
  ['None:%(runbook.public)s', p1, isNull('public')],
  ['project_id:%(node.owner)s', anonymous, either(equals('owner', 'None'), isNull('owner'))],
  [
    'admin_projects:%(node.owner)s',
    { ...p1, admin_projects: ['p1', 'None'] },
    either(equals('owner', 'p1'), either(equals('owner', 'None'), isNull('owner'))),
  ],
  // What may fail to be evaluated admits no row at all, whatever stands beside it.
  ['class:x or @', p1, none],
  ['project_id:100% or @', p1, none],
  ['role:100% or @', p1, none],
  ['rule:baremetal:node:get', p1, none],
  ['rule:missing', p1, none],
];

describe.each([
  ['strict', [...inBoth, ...inStrict]],
  ['compat', [...inBoth, ...inCompat]],
] as const)('in %s mode', (mode, forms) => {
  test.each(forms as Row[])('%s', (text, who, filter) => {
    expect(filterOf(text, who, mode)).toEqual(filter);
  });
});
