/** Files that are written after the founding documents load as they are, with a warning where they open too much. */

import { createPolicy, nodeTarget, personas, readPolicy } from '../../src/policy';

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

  test('its is_admin is every project’s admin, and the operator is told so with the place and a scoped text', () => {
    expect(policy.allows('baremetal:node:set_power_state', personas['stranger-admin'], node)).toBe(true);
    expect(policy.warnings).toContainEqual(
      'guide.yaml:4: rule "baremetal:node:set_power_state": rule:is_admin asks for no scope, so it admits the admins of every project, to the objects of all others too; write (role:admin and system_scope:all) in its place, or project_id:%(node.owner)s beside the role',
    );
  });

  test('what is opened to everybody is warned of, lists aside, which are filtered', () => {
    const open = policy.warnings.filter((warning) => warning.includes('admits every caller'));
    expect(open.map((warning) => warning.split('"')[1])).toEqual(['baremetal:allocation:create_restricted']);
  });
});
