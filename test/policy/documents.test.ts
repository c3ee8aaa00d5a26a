/** Files that are written after the founding documents load as they are, with a warning where they open too much. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  answerOf,
  createPolicy,
  gapsOf,
  lineOf,
  membersWith,
  nodeTarget,
  personas,
  readPolicy,
  reviewOf,
} from '../../src/policy';
import { temper } from '../cli/support/command';

const node = nodeTarget({ owner: 'project-owner', lessee: 'project-lessee' });

/** An operator's file in the words of the multi-tenancy guide. */
const guide = readPolicy(
  `
"baremetal:node:get": "rule:is_admin or rule:is_observer or rule:is_node_owner or rule:is_node_lessee"
"baremetal:node:list": ""
"baremetal:node:set_power_state": "rule:is_admin or rule:is_node_owner"
"baremetal:node:set_provision_state": "rule:is_admin or rule:is_node_owner or rule:is_node_lessee"
"baremetal:port:get": "rule:is_admin or rule:is_observer or rule:is_node_owner or rule:is_node_lessee"
"baremetal:port:list": ""
"baremetal:allocation:get": "rule:is_admin or rule:is_observer or rule:is_allocation_owner"
"baremetal:allocation:list": ""
"baremetal:allocation:create_restricted": ""
"baremetal:allocation:delete": "rule:is_admin or rule:is_allocation_owner"
"baremetal:allocation:update": "rule:is_admin or rule:is_allocation_owner"
`,
  'guide.yaml',
);

describe.each(['temper', 'ironic', 'closed'] as const)('in set %s', (set) => {
  const policy = createPolicy({ set, ...guide });

  test('owner and lessee get what the file gives them, and strangers do not', () => {
    expect(policy.allows('baremetal:node:set_provision_state', personas['owner-member'], node)).toBe(true);
    expect(policy.allows('baremetal:node:set_provision_state', personas['lessee-member'], node)).toBe(true);
    expect(policy.allows('baremetal:node:set_provision_state', personas['stranger-member'], node)).toBe(false);
    expect(policy.allows('baremetal:node:set_power_state', personas['lessee-member'], node)).toBe(false);
    expect(policy.allows('baremetal:node:list', personas['stranger-reader'])).toBe(true);
  });

  test('its is_admin is every project’s admin, and the operator reads it with the place and a scoped text', () => {
    expect(policy.allows('baremetal:node:set_power_state', personas['stranger-admin'], node)).toBe(true);
    expect(policy.warnings).toContainEqual(
      'guide.yaml:4: rule "baremetal:node:set_power_state": rule:is_admin asks for no scope, so it admits the admins of every project, to the objects of all others too; write (role:admin and system_scope:all) in its place, or project_id:%(node.owner)s beside the role',
    );
  });

  test('what is opened to every caller is warned of, lists aside, which are filtered', () => {
    const open = policy.warnings.filter((warning) => warning.includes('admits every caller'));
    expect(open.map((warning) => warning.split('"')[1])).toEqual(['baremetal:allocation:create_restricted']);
  });
});

/** Texts of the documents as they stand there, pasted into a file each, and the personas whom they admit. */
const documents = {
  'guide-exposing.yaml': ['baremetal:node:set_provision_state', 'owner-member', 'lessee-member'],
  'guide-metalsmith.yaml': ['baremetal:node:set_provision_state', 'owner-member'],
  'owner-document.yaml': ['baremetal:node:set_power_state', 'owner-member'],
} as const;
const textOf = (file: string): string => readFileSync(join(__dirname, 'data', file), 'utf8');
const members = membersWith([]);

describe.each(Object.entries(documents))('%s over set closed', (file, [rule, ...admitted]) => {
  const policy = createPolicy({ set: 'closed', ...readPolicy(textOf(file), file) });
  const sees = file !== 'guide-exposing.yaml' && file !== 'owner-document.yaml';
  const answers = (of: typeof policy) => admitted.map((who) => answerOf(of, rule, personas[who], node));

  test('says whether those whom it admits see the node, and the line that is missing', () => {
    expect(answers(policy)).toEqual(admitted.map(() => (sees ? 'allowed' : 'missing')));
    const gaps = gapsOf(policy, members).filter(({ see }) => see === 'baremetal:node:get');
    expect(gaps.length).toBe(sees ? 0 : 1);
    const told = reviewOf(policy, members).filter((text) => text.includes('404 and empty lists'));
    expect(told).toEqual(gaps.map((gap) => expect.stringContaining(`${rule}`) && expect.stringContaining(lineOf(gap))));
  });

  test('explain and diff tell what the API answers, and the line mends all three', async () => {
    const files = { [file]: textOf(file) };
    const asked = `policy explain ${rule} --as ${admitted[0]} --set closed --file ${file}`;
    const differs = `--json policy diff closed closed:${file}`;
    const gains = async () => {
      const { changes } = JSON.parse((await temper(differs, { files })).out);
      const of = (change: { rules: string[] }) => change.rules.includes(rule);
      return JSON.stringify(changes.filter(of).map(({ who }: { who: unknown }) => who));
    };
    const before = await temper(asked, { files });
    expect([before.status, before.out.split('\n')[0]]).toEqual([
      sees ? 0 : 1,
      `${sees ? 'allowed' : 'missing'}: ${rule} for ${admitted[0]}`,
    ]);
    if (!sees) expect(before.out).toContain('baremetal:node:get is asked first and refuses');
    expect((await gains()).includes('owner')).toBe(sees);

    const fixed = await temper(`policy lint --fix closed:${file}`, { files });
    expect([fixed.status, fixed.err]).toEqual([0, '']);
    expect(fixed.out).not.toContain('404 and empty lists');
    expect(fixed.out.includes('written')).toBe(!sees);
    expect((await temper(asked, { files })).status).toBe(0);
    expect(await gains()).toContain('owner');
    expect(answers(createPolicy({ set: 'closed', ...readPolicy(files[file]!, file) }))).toEqual(
      admitted.map(() => 'allowed'),
    );
  });

  test('a line that asks for no role is warned of: readers change things by it', () => {
    const told = reviewOf(policy, members).filter((text) => text.includes('asks for no role'));
    expect(told).toContainEqual(expect.stringContaining(`rule "${rule}": rule:is_node_owner asks for no role`));
    expect(told.filter((text) => /:(get|list)"/.test(text))).toEqual([]);
  });
});

test('the line that lets callers see replaces the one that is there', async () => {
  const files = {
    'own.yaml':
      '"baremetal:node:get": "role:reader and system_scope:all"\n"baremetal:node:set_power_state": "role:member and rule:is_node_owner"\n',
  };
  await temper('policy lint --fix closed:own.yaml', { files });
  expect(files['own.yaml'].split('\n')[0]).toBe(
    '"baremetal:node:get": "(role:reader and system_scope:all) or (role:member and rule:is_node_owner)"',
  );
  const policy = createPolicy({ set: 'closed', ...readPolicy(files['own.yaml'], 'own.yaml') });
  expect(reviewOf(policy, members)).toEqual([]);
});

test('a file that cannot be changed by line is left, and the line is said', async () => {
  const files = { 'own.json': '{"baremetal:node:set_power_state": "rule:is_node_owner"}' };
  const said = await temper('policy lint --fix closed:own.json', { files });
  expect([said.status, said.err]).toEqual([2, expect.stringContaining('write this into it: "baremetal:node:get"')]);
  expect(files['own.json']).not.toContain('node:get');
});
