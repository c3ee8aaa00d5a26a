/** What a path segment names, and which rows a list may hold. */
import { identOf } from '../../src/admission/visibility';
import { behindNode, nodeColumns, projectsOf, requireList, visibleNodes } from '../../src/api/resource/visibility';
import type { Caller } from '../../src/model/access/callers';
import type { Predicate } from '../../src/model/predicates';
import type { Policy } from '../../src/policy';

/** The code of what is thrown; undefined where nothing is. */
const codeOf = (work: () => unknown): unknown => {
  try {
    work();
    return undefined;
  } catch (thrown) {
    return (thrown as { code?: unknown }).code;
  }
};

const uuid = '11111111-2222-4333-8444-555555555555';

describe('a node is named', () => {
  test('by its uuid at every version, in any case', () => {
    expect(identOf(uuid, 1)).toEqual({ uuid });
    expect(identOf(uuid.toUpperCase(), 1)).toEqual({ uuid });
  });

  test('by its name from 1.5, and by none before', () => {
    expect(identOf('rack3-n1', 5)).toEqual({ name: 'rack3-n1' });
    expect(codeOf(() => identOf('rack3-n1', 4))).toBe('NodeNotFound');
  });

  test('by nothing that is the path of something else, and by no text that is no name', () => {
    expect(codeOf(() => identOf('ports', 90))).toBe('NodeNotFound');
    expect(codeOf(() => identOf('no name', 90))).toBe('InvalidInput');
    expect(codeOf(() => identOf('no name', 4))).toBe('InvalidInput');
  });

  test('by a name with dots only where that is one', () => {
    expect(codeOf(() => identOf('a_b', 5))).toBe('InvalidInput');
    expect(identOf('a_b', 10)).toEqual({ name: 'a_b' });
  });
});

const caller = (project_id: string | null, admin_projects: string[] = []) =>
  ({ project_id, admin_projects }) as unknown as Caller;
const mine: Predicate = { is: 'equals', column: 'owner', value: 'p' };

/** A policy that allows these rules, filters rows by these predicates, and has these from a file. */
const policyOf = (
  allowed: readonly string[],
  filters: Readonly<Record<string, Predicate>> = {},
  written: readonly string[] = [],
) =>
  ({
    allows: (rule: string) => allowed.includes(rule),
    require: (rule: string) => {
      if (!allowed.includes(rule)) throw Object.assign(new Error(rule), { code: 'PolicyDenied' });
    },
    filter: (rule: string) => filters[rule] ?? { is: 'false' },
    isWritten: (rule: string) => written.includes(rule),
  }) as unknown as Policy;

const listing = { all: 'list_all', own: 'list', columns: nodeColumns };

describe('a list is there', () => {
  test('for who may list all, with a project or without', () => {
    for (const project of ['p', null]) expect(requireList(policyOf(['list_all']), caller(project), listing)).toBe(true);
  });

  test('for callers of a project whose rule speaks of rows, and not for those of none', () => {
    const policy = policyOf([], { list: mine });
    expect(requireList(policy, caller('p'), listing)).toBe(false);
    expect(() => requireList(policy, caller(null), listing)).toThrow(
      expect.objectContaining({ code: 'PolicyDenied', facts: { rule: 'list_all' } }),
    );
  });

  test('for no caller whose rule admits to no row', () => {
    expect(codeOf(() => requireList(policyOf([]), caller('p'), listing))).toBe('PolicyDenied');
  });
});

describe('a list of nodes', () => {
  const rules = { 'baremetal:node:list': mine, 'baremetal:node:get': mine };
  const everybodys = policyOf(['baremetal:node:list_all'], { 'baremetal:node:get': { is: 'true' } });

  test('holds what its caller would be shown one by one, however wide the rule of the list is', () => {
    expect(visibleNodes(policyOf(['baremetal:node:list_all'], rules), caller('p'))).toEqual(mine);
  });

  test('holds the nodes of the caller’s project too, where a file has the rule of the list, each condition said once', () => {
    const list = 'baremetal:node:list';
    const own = { is: 'or', any: [mine, { is: 'equals', column: 'lessee', value: 'p' }] };
    const open = { [list]: { is: 'true' } } as const;
    expect(visibleNodes(policyOf([list], open, [list]), caller('p'))).toEqual(own);
    expect(visibleNodes(policyOf([list], { ...rules, ...open }, [list]), caller('p'))).toEqual(own);
    expect(visibleNodes(policyOf([list], { ...rules, ...open }), caller('p'))).toEqual(mine);
    expect(visibleNodes(policyOf(['baremetal:node:list_all'], open, [list]), caller(null))).toEqual({ is: 'false' });
  });

  test('of another project is refused, but for who may list all and for admins of that project', () => {
    const policy = policyOf([], rules);
    expect(codeOf(() => visibleNodes(policy, caller('p'), 'other'))).toBe('PolicyDenied');
    for (const who of [caller('other'), caller('p', ['other'])])
      expect(JSON.stringify(visibleNodes(policy, who, 'other'))).toContain('"other"');
    expect(JSON.stringify(visibleNodes(everybodys, caller('p'), 'other'))).toContain('"other"');
  });

  test('of another project is refused by the rule of all nodes, and an empty name is no project', () => {
    expect(() => visibleNodes(policyOf([], rules), caller('p'), 'other')).toThrow(
      expect.objectContaining({ facts: { rule: 'baremetal:node:list_all' } }),
    );
    expect(codeOf(() => visibleNodes(policyOf([], rules), caller('p'), ''))).toBe('PolicyDenied');
  });

  test('that is narrowed for who sees all holds just what the project owns or leases', () => {
    const seesAll = policyOf(['baremetal:node:list_all'], { 'baremetal:node:get': { is: 'true' } });
    expect(visibleNodes(seesAll, caller('p'), 'other')).toEqual({
      is: 'or',
      any: [
        { is: 'equals', column: 'owner', value: 'other' },
        { is: 'equals', column: 'lessee', value: 'other' },
      ],
    });
  });

  test('of a project are those that it owns or leases, among those that are shown', () => {
    const text = JSON.stringify(visibleNodes(policyOf([], rules), caller('p'), 'p'));
    expect(text).toContain(JSON.stringify(mine));
    expect(text).toContain(JSON.stringify({ is: 'equals', column: 'lessee', value: 'p' }));
    expect(JSON.parse(text).is).toBe('and');
  });
});

test('a caller speaks for the project of its token and for those it is admin of, and for no null', () => {
  expect(projectsOf(caller('p', ['a', 'b']))).toEqual(['p', 'a', 'b']);
  expect(projectsOf(caller(null, ['a']))).toEqual(['a']);
  expect(projectsOf({ project_id: null } as Caller)).toEqual([]);
});

test('what belongs to a node is shown where both are, and one condition is not said twice', () => {
  const policy = policyOf([], { 'baremetal:node:get': mine });
  const other: Predicate = { is: 'equals', column: 'lessee', value: 'p' };
  expect(behindNode(policy, caller('p'), mine)).toEqual(mine);
  expect(JSON.stringify(behindNode(policy, caller('p'), other))).toContain(JSON.stringify(other));
  expect(JSON.stringify(behindNode(policy, caller('p'), other))).toContain(JSON.stringify(mine));
});
