/** Whatever a file or a caller holds: nothing crashes, nothing hangs, and strict mode opens nothing by accident. */

import fc from 'fast-check';
import { anonymous, type Caller } from '../../src/model/access/callers';
import { isTemperError } from '../../src/model/errors';
import { matches } from '../../src/model/predicates';
import { createPolicy, type Mode, type PolicySource, readPolicy, type Target } from '../../src/policy';
import { printCheck } from '../../src/policy/language/check';
import { parseRule } from '../../src/policy/language/parse';
import { inProject, inSystem } from './support';

const rule = 'baremetal:node:get';
const runs = { numRuns: 200 };

/** The policy that a file makes, or undefined where it is refused. Anything else that is thrown is a crash. */
const load = (source: Partial<PolicySource>, mode: Mode) => {
  try {
    return createPolicy({ set: 'temper', mode, ...source });
  } catch (thrown) {
    if (isTemperError(thrown, 'PolicyInvalid')) return undefined;
    throw thrown;
  }
};

/** Texts that are nearly rules: pieces of the language, put together without a plan. */
const pieces = fc.constantFrom(
  ...[
    '(',
    ')',
    'and',
    'or',
    'not',
    '@',
    '!',
    'role:',
    'role:reader',
    'rule:',
    'rule:is_admin',
    ':',
    '::',
    '%',
    '%(',
    ')s',
  ],
  ...['%(node.owner)s', 'project_id:%(node.owner)s', "'", '"', "'x':", 'None:', 'True:%(runbook.public)s', '1:', '\\'],
  ...[
    '\u0085',
    '\ufeff',
    '\u0000',
    'é:',
    '__proto__:',
    'constructor:x',
    'http://x/%(y)s',
    'a.b.c:d',
    '[',
    '{',
    '&&',
    ',',
  ],
);
const nearlyRule = fc.oneof(
  { weight: 4, arbitrary: fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(' ')) },
  { weight: 2, arbitrary: fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
);
const anyValue = fc.oneof(
  { weight: 3, arbitrary: nearlyRule },
  fc.array(fc.oneof(nearlyRule, fc.array(nearlyRule))),
  fc.anything(),
);

const project = fc.constantFrom(null, 'p1', 'p2', 'None', 'True', '');
const caller: fc.Arbitrary<Caller> = fc
  .record({
    project_id: project,
    project_name: project,
    project_domain_id: fc.constantFrom(null, 'default'),
    system_scope: fc.constantFrom(null, 'all'),
    domain_id: fc.constantFrom(null, 'd'),
    roles: fc.uniqueArray(fc.constantFrom('reader', 'member', 'admin', 'service', 'Admin', 'x y', '__proto__')),
    is_admin_project: fc.boolean(),
    service_roles: fc.uniqueArray(fc.constantFrom('service', 'p1')),
  })
  .map((given) => ({ ...anonymous, ...given }));

const row = fc.record({
  owner: project,
  lessee: project,
  public: fc.constantFrom(true, false, null),
  tenant: project,
});
const columns = { 'node.owner': 'owner', 'node.lessee': 'lessee', 'runbook.public': 'public', 'run.tenant': 'tenant' };
const targetOf = (given: Readonly<Record<string, unknown>>): Target =>
  Object.fromEntries(Object.entries(columns).map(([key, column]) => [key, given[column]]));

/** Rules that load: random trees over checks of every kind. */
const checks = fc.constantFrom(
  ...[
    '@',
    '!',
    'role:reader',
    'role:admin',
    'system_scope:all',
    'project_id:%(node.owner)s',
    'project_id:%(node.lessee)s',
  ],
  ...['project_id:%(run.tenant)s', 'project_id:%(project_id)s', 'project_id:p1', 'is_admin_project:%(runbook.public)s'],
  ...['True:%(runbook.public)s', 'None:%(node.owner)s', 'None:%(node.lessee)s', "'None':%(node.owner)s"],
  ...["'p1':%(node.owner)s", "'p1-p2':%(node.owner)s-%(project_id)s", 'service_roles:%(node.owner)s', 'rule:helper'],
  ...['project_name:%(node.lessee)s', 'rule:is_node_owner', 'None:%(runbook.public)s', 'project_domain_id:default'],
);
const { tree } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    checks,
    tie('tree').map((inner) => `not (${inner})`.replace('not (@)', 'not @')),
    fc.tuple(tie('tree'), fc.constantFrom('and', 'or'), tie('tree')).map(([a, op, b]) => `( ${a} ) ${op} ( ${b} )`),
  ),
}));
const modes = fc.constantFrom<Mode>('strict', 'compat');

test('the parser takes any value, and its print means the same', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const { check, refused, faults } = parseRule(value);
      // A check of a list may hold blanks and parentheses, which a text would take apart.
      if (typeof value !== 'string' || refused.length > 0 || faults.length > 0) return;
      const printed = printCheck(check);
      expect(printCheck(parseRule(printed).check)).toBe(printed);
    }),
    runs,
  );
});

test('any value loads or is refused, and what loads decides for every caller', () => {
  fc.assert(
    fc.property(anyValue, modes, caller, row, (value, mode, who, given) => {
      const policy = load({ overrides: { [rule]: value } }, mode);
      if (!policy) return;
      const may = policy.allows(rule, who, targetOf(given));
      expect(typeof may).toBe('boolean');
      expect(policy.explain(rule, who, targetOf(given)).verdict).toBe(may ? 'allowed' : 'refused');
      // A filter may leave out what it cannot say, and never shows what is refused.
      if (!may) expect(matches(policy.filter(rule, who, columns), given)).toBe(false);
    }),
    runs,
  );
});

test('any text loads as a file or is refused with the file’s name', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(fc.tuple(nearlyRule, nearlyRule)).map((lines) => lines.map((line) => line.join(': ')).join('\n')),
      ),
      modes,
      (text, mode) => {
        try {
          load(readPolicy(text, 'policy.yaml'), mode);
        } catch (thrown) {
          expect(isTemperError(thrown, 'PolicyInvalid') && String(thrown.facts.reason)).toMatch(/^policy\.yaml:/);
        }
      },
    ),
    runs,
  );
});

test('in strict mode no text opens a rule to a stranger, unless it says so', () => {
  // An author who says "everyone", "not", "null" or what every caller has, means it.
  const outspoken = /@|\bnot\b|None|is_admin_project|is_public_api/i;
  fc.assert(
    fc.property(nearlyRule, row, (text, given) => {
      fc.pre(text !== '' && !outspoken.test(text));
      const policy = load({ overrides: { [rule]: text } }, 'strict');
      expect(
        policy?.allows(
          rule,
          { ...anonymous, project_id: 'stranger' },
          { ...targetOf(given), 'runbook.public': false },
        ) ?? false,
      ).toBe(false);
    }),
    { numRuns: 400 },
  );
});

test('in strict mode null opens nothing that an id would not', () => {
  const noNull = checks.filter((text) => !text.startsWith('None') && text !== '@');
  const positive = fc.array(fc.array(noNull, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
  const adrift: Caller = { ...anonymous, project_domain_id: 'x', is_admin_project: false, roles: [] };
  fc.assert(
    fc.property(positive, (alternatives) => {
      const text = alternatives.map((all) => `(${all.join(' and ')})`).join(' or ');
      const policy = load({ overrides: { [rule]: text, helper: 'role:admin' } }, 'strict');
      const bare = { 'node.owner': null, 'node.lessee': null, 'runbook.public': null, 'run.tenant': null };
      expect(policy?.allows(rule, adrift, bare)).toBe(false);
    }),
    runs,
  );
});

test('a list’s filter admits exactly the rows that deciding row by row would admit', () => {
  fc.assert(
    fc.property(tree, modes, caller, fc.array(row, { minLength: 1, maxLength: 12 }), (text, mode, who, rows) => {
      const overrides = { [rule]: text, helper: 'None:%(node.owner)s or role:admin' };
      const policy = createPolicy({ set: 'temper', mode, overrides });
      const filter = policy.filter(rule, who, columns);
      expect(rows.map((given) => matches(filter, given))).toEqual(
        rows.map((given) => policy.allows(rule, who, targetOf(given))),
      );
    }),
    { numRuns: 400 },
  );
});

test('an explanation says what the decision says, part by part', () => {
  fc.assert(
    fc.property(tree, modes, caller, row, (text, mode, who, given) => {
      const overrides = { [rule]: text, helper: 'None:%(node.owner)s or role:admin' };
      const policy = createPolicy({ set: 'temper', mode, overrides });
      const { verdict } = policy.explain(rule, who, targetOf(given));
      expect(verdict === 'allowed').toBe(policy.allows(rule, who, targetOf(given)));
    }),
    { numRuns: 400 },
  );
});

test('targets of any shape are decided without a crash', () => {
  const policy = createPolicy({ set: 'temper' });
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('node.owner', 'node.lessee', '__proto__', 'x'), fc.anything()),
      (target) => {
        for (const who of [inProject('p1', 'admin'), inSystem('reader'), anonymous])
          expect(typeof policy.allows(rule, who, target)).toBe('boolean');
      },
    ),
    runs,
  );
});
