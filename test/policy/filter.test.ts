/** A list's filter admits exactly the rows that deciding row by row would admit. */

import { anonymous, type Caller } from '../../src/model/access/callers';
import { matches, type Predicate } from '../../src/model/predicates';
import { createPolicy, type Mode, personas, ruleNames, type Target } from '../../src/policy';
import { inProject, inSystem } from './support';

/** A small generator of repeatable random numbers, so that a failure can be run again. */
const randomFrom = (seed: number) => {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    chance: (p: number) => next() < p,
    pick: <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)]!,
  };
};
type Random = ReturnType<typeof randomFrom>;

const columns = { 'node.owner': 'owner', 'node.lessee': 'lessee', 'runbook.public': 'public', 'run.tenant': 'tenant' };

const atoms = [
  '@',
  '!',
  'role:reader',
  'role:admin',
  'system_scope:all',
  'project_id:%(node.owner)s',
  'project_id:%(node.lessee)s',
  'project_id:%(run.tenant)s',
  'project_id:%(runbook.public)s',
  'project_id:%(project_id)s',
  'project_id:%(allocation.owner)s',
  'project_id:p1',
  'project_name:%(config.service_project_name)s',
  'is_admin_project:%(runbook.public)s',
  'is_public_api:%(runbook.public)s',
  'service_roles:%(node.owner)s',
  'admin_projects:%(node.owner)s',
  'admin_projects:%(run.tenant)s',
  'admin_projects:%(node.owner)s-%(project_id)s',
  'admin_projects:%(runbook.public)s',
  'True:%(runbook.public)s',
  'False:%(runbook.public)s',
  'None:%(node.owner)s',
  'None:%(node.lessee)s',
  'None:%(runbook.public)s',
  'None:%(domain_id)s',
  "'None':%(node.owner)s",
  "'p1':%(node.owner)s",
  "'p1':%(project_id)s",
  "'p1-p2':%(node.owner)s-%(project_id)s",
  'project_name:%(node.owner)s-name',
  'project_name:%(node.lessee)s-%(project_id)s',
  'project_domain_id:None',
  'rule:helper',
  'rule:is_node_owner',
];

const randomRule = (random: Random, depth = 3): string => {
  if (depth === 0 || random.chance(0.25)) return random.pick(atoms);
  if (random.chance(0.25)) return `not (${randomRule(random, depth - 1)})`;
  return `(${randomRule(random, depth - 1)}) ${random.pick(['and', 'or'])} (${randomRule(random, depth - 1)})`;
};

const projects = [null, 'p1', 'p2', 'None', 'True'];
const rows = projects.flatMap((owner) =>
  projects.flatMap((lessee) =>
    [true, false, null].flatMap((open) => [null, 'p1'].map((tenant) => ({ owner, lessee, public: open, tenant }))),
  ),
);
type Row = (typeof rows)[number];

/** Fewer rows, with the projects of the personas, for the many built-in rules. */
const personaRows: readonly Row[] = [null, 'None', 'project-owner'].flatMap((owner) =>
  [null, 'project-lessee'].flatMap((lessee) =>
    [true, false].flatMap((open) =>
      [null, 'project-lessee'].map((tenant) => ({ owner, lessee, public: open, tenant })),
    ),
  ),
);

const targetOf = (row: Row): Target =>
  Object.fromEntries(Object.entries(columns).map(([key, column]) => [key, row[column as keyof Row]]));

const callers: Caller[] = [
  anonymous,
  inProject('p1', 'reader'),
  inProject('p2', 'admin'),
  inProject('None', 'member'),
  inProject('True', 'member'),
  { ...inProject('p1', 'service'), service_roles: ['p1', 'p2'], project_name: 'p2-p1' },
  { ...inProject('p1', 'reader'), is_admin_project: false, is_public_api: true },
  { ...inProject('p1', 'admin'), admin_projects: ['p1', 'p2', 'None', 'True'] },
  { ...inProject('p3', 'admin'), admin_projects: ['p2', 'p2-p3'] },
  inSystem('reader'),
];

const differing = (filter: Predicate, allows: (target: Target) => boolean, among: readonly Row[] = rows): Row[] =>
  among.filter((row) => matches(filter, row) !== allows(targetOf(row)));

const seeds = Array.from({ length: 150 }, (_, seed) => seed + 1);

describe.each(['strict', 'compat'] as const)('in %s mode', (mode: Mode) => {
  test.each(seeds)('a random rule filters as it decides (seed %i)', (seed) => {
    const random = randomFrom(seed);
    const overrides = { 'baremetal:node:get': randomRule(random), helper: 'None:%(node.owner)s or role:admin' };
    const policy = createPolicy({
      set: 'temper',
      mode,
      overrides,
      elevatedServiceProject: seed % 2 ? 'p2-name' : null,
    });
    for (const who of callers) {
      const filter = policy.filter('baremetal:node:get', who, columns);
      const wrong = differing(filter, (target) => policy.allows('baremetal:node:get', who, target));
      expect({ rule: overrides['baremetal:node:get'], who: who.user_id, wrong }).toEqual({
        rule: overrides['baremetal:node:get'],
        who: who.user_id,
        wrong: [],
      });
    }
  });

  test.each(['temper', 'ironic', 'closed'] as const)('every rule of set %s filters as it decides', (set) => {
    const policy = createPolicy({ set, mode });
    const wrong = ruleNames.flatMap((rule) =>
      [...Object.values(personas), ...callers].flatMap((who) =>
        differing(policy.filter(rule, who, columns), (target) => policy.allows(rule, who, target), personaRows).map(
          (row) => ({ rule, who: who.user_id, row }),
        ),
      ),
    );
    expect(wrong).toEqual([]);
  });

  test.each([
    'role:%(node.owner)s',
    'project_name:%(node.owner)s-%(node.lessee)s',
    'http://pdp.example/%(node.owner)s',
  ])('what no predicate can say, %s, shows nothing that deciding would hide, negated or not', (text) => {
    const remote = () => 'True';
    for (const rule of [text, `not ${text}`, `role:reader or ${text}`, `not (role:admin and ${text})`]) {
      const policy = createPolicy({ set: 'temper', mode, remote, overrides: { 'baremetal:node:get': rule } });
      for (const who of callers) {
        const filter = policy.filter('baremetal:node:get', who, columns);
        const shown = rows.filter((row) => matches(filter, row));
        expect(shown.filter((row) => !policy.allows('baremetal:node:get', who, targetOf(row)))).toEqual([]);
      }
    }
  });
});

test('the filter of a project reader is the two columns that can name its project', () => {
  const policy = createPolicy({ set: 'temper' });
  expect(policy.filter('baremetal:node:get', inProject('p1', 'reader'), columns)).toEqual({
    is: 'or',
    any: [
      { is: 'equals', column: 'owner', value: 'p1' },
      { is: 'equals', column: 'lessee', value: 'p1' },
    ],
  });
  expect(policy.filter('baremetal:node:get', inSystem('reader'), columns)).toEqual({ is: 'true' });
  expect(policy.filter('baremetal:node:get', anonymous, columns)).toEqual({ is: 'false' });
});
