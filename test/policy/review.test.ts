/** What an operator reads of a file's own lines: who is admitted in vain, and who changes nodes by reading alone. */
import { createPolicy, membersWith, readPolicy, reviewOf } from '../../src/policy';

const members = membersWith([]);
const review = (text: string, set: 'temper' | 'closed' = 'temper'): string[] =>
  reviewOf(createPolicy({ set, ...readPolicy(text, 'own.yaml') }), members);
const asksForNone = (text: string): boolean => text.includes('asks for no role');
const line = (rule: string, text: string): string => `${JSON.stringify(rule)}: ${JSON.stringify(text)}\n`;

describe('a reader of the node’s project who changes it', () => {
  const change = 'baremetal:node:set_power_state';
  const told = (rule: string, text: string): string[] => review(line(rule, text));

  test.each([
    ['project_id:%(node.owner)s', 'project_id:%(node.owner)s'],
    ['project_id:%(node.lessee)s', 'project_id:%(node.lessee)s'],
    ['role:admin or project_id:%(node.owner)s', 'project_id:%(node.owner)s'],
    ['rule:is_node_owner', 'rule:is_node_owner'],
  ])('by %s is reported, with the place, the part and the text to write', (text, part) => {
    expect(told(change, text).filter(asksForNone)).toEqual([
      `own.yaml:1: rule "${change}": ${part} asks for no role, so that readers of that project change things by it; write (role:member and ${part}) in its place`,
    ]);
  });

  test.each([
    'role:member and project_id:%(node.owner)s',
    'project_id:%(node.owner)s and (role:admin or role:reader)',
    'not role:service',
    'project_id:another',
    '@',
    '!',
  ])('is not reported where the rule is %s', (text) => {
    expect(told(change, text).filter(asksForNone)).toEqual([]);
  });

  test.each([
    'baremetal:node:get',
    'baremetal:node:list_all',
    'baremetal:node:validate',
    'baremetal:node:get:last_error',
    'baremetal:runbook:update',
    'baremetal:allocation:update',
  ])('is not reported by %s, which reads or is about no node', (rule) => {
    expect(told(rule, 'project_id:project-owner').filter(asksForNone)).toEqual([]);
  });

  test('is reported without a place where the rules came from no file', () => {
    const policy = createPolicy({ set: 'temper', overrides: { [change]: 'project_id:%(node.owner)s' } });
    expect(reviewOf(policy, members)).toEqual([expect.stringMatching(/^rule "baremetal:node:set_power_state": /)]);
  });
});

describe('callers who are admitted and do not see the object', () => {
  const rules = ['set_power_state', 'set_provision_state', 'set_boot_device', 'get_console', 'set_console_state'];
  const file = (names: readonly string[]): string =>
    names.map((name) => line(`baremetal:node:${name}`, 'role:member and project_id:%(node.owner)s')).join('');
  const gap = /^own\.yaml:\d+: (.+): admits callers to whom baremetal:node:get does not show the object/;

  test('are reported once, with the rules and the line that is missing', () => {
    const [told, ...more] = review(file(rules), 'closed');
    expect(more).toEqual([]);
    expect(gap.exec(told!)![1]!.split(', ').sort()).toEqual(rules.map((name) => `baremetal:node:${name}`).sort());
    expect(told).toContain('or (role:member and project_id:%(node.owner)s)"');
  });

  test('of more than five rules five are named and the others counted', () => {
    const [told] = review(file([...rules, 'set_raid_state', 'inject_nmi']), 'closed');
    const named = gap.exec(told!)![1]!;
    expect(named.match(/baremetal:/g)).toHaveLength(5);
    expect(named).toMatch(/ and 2 more$/);
  });

  test('of two kinds of objects are two gaps, each with its own rules and its own line', () => {
    const update = line('baremetal:allocation:update', 'role:member and project_id:%(allocation.owner)s');
    const told = review(`${file(rules.slice(0, 1))}${update}`, 'closed');
    expect(told.map((text) => /baremetal:\w+:\w+/.exec(text)![0])).toEqual([
      'baremetal:node:set_power_state',
      'baremetal:allocation:update',
    ]);
    expect(told.map((text) => text.includes('%(node.owner)s'))).toEqual([true, false]);
  });

  test('who see the object all the same are no gap', () => {
    expect(review(file(rules), 'temper')).toEqual([]);
  });

  test('the line leaves out a refusal, and names an alternative once', () => {
    const [told] = review(`${line('baremetal:node:get', '!')}${file(rules.slice(0, 2))}`, 'closed');
    expect(told).toContain('add "baremetal:node:get": "(role:member and project_id:%(node.owner)s)"');
  });

  test('by rules that came from no file are reported without a place', () => {
    const overrides = { 'baremetal:node:set_power_state': 'role:member and project_id:%(node.owner)s' };
    const [told] = reviewOf(createPolicy({ set: 'closed', overrides }), members);
    expect(told).toMatch(/^baremetal:node:set_power_state: admits callers/);
  });
});

describe('a line for lists', () => {
  const empty = (text: string): string[] =>
    review(text, 'closed').flatMap(
      (told) => /rule "(.+)": the rows of a list go by (\S+),/.exec(told)?.slice(1, 3) ?? [],
    );
  const own = 'role:reader and rule:is_node_owner';

  test.each(['port', 'portgroup', 'volume', 'allocation', 'runbook'])('of a %s without its get is reported', (what) => {
    for (const list of ['list', 'list_all'])
      expect(empty(line(`baremetal:${what}:${list}`, ''))).toEqual([
        `baremetal:${what}:${list}`,
        `baremetal:${what}:get`,
      ]);
  });

  test('of what belongs to a node is reported until the node is shown too', () => {
    const ports = line('baremetal:port:list', '') + line('baremetal:port:get', own);
    expect(empty(ports)).toEqual(['baremetal:port:list', 'baremetal:port:get']);
    expect(empty(ports + line('baremetal:node:get', own))).toEqual([]);
  });

  test('of nodes opens the caller’s own by itself, and that for all nodes opens none', () => {
    expect(empty(line('baremetal:node:list', ''))).toEqual([]);
    expect(empty(line('baremetal:node:list_all', ''))).toEqual(['baremetal:node:list_all', 'baremetal:node:get']);
  });

  test.each(['!', 'role:reader and system_scope:all'])('is not reported where it is %s', (text) => {
    expect(empty(line('baremetal:port:list', text))).toEqual([]);
  });
});
