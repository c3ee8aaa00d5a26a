/** The multi-tenancy guide as a table: the rules that it opens, and its commands before and after. */
import { done, type Line, refused, shows } from './guide';

const admins = 'rule:is_admin';
const readers = 'rule:is_admin or rule:is_observer';

const text = (rules: Readonly<Record<string, string>>): string =>
  Object.entries(rules)
    .map(([rule, check]) => `"${rule}": "${check}"\n`)
    .join('');

const allocationRules = {
  'baremetal:allocation:get': `${readers} or rule:is_allocation_owner`,
  'baremetal:allocation:list': '',
  'baremetal:allocation:create_restricted': '',
  'baremetal:allocation:delete': `${admins} or rule:is_allocation_owner`,
  'baremetal:allocation:update': `${admins} or rule:is_allocation_owner`,
};

/** What the guide opens for owners and lessees; reading for both, which its lists go without saying. */
export const openedFile = text({
  'baremetal:node:get': `${readers} or rule:is_node_owner or rule:is_node_lessee`,
  'baremetal:node:list': '',
  'baremetal:node:set_provision_state': `${admins} or rule:is_node_owner or rule:is_node_lessee`,
  'baremetal:node:update': `${admins} or rule:is_node_owner`,
  'baremetal:port:get': `${readers} or rule:is_node_owner or rule:is_node_lessee`,
  'baremetal:port:list': '',
  ...allocationRules,
});

/** What it says is enough to deploy with metalsmith. */
export const metalsmithFile = text({
  'baremetal:node:get': `${readers} or rule:is_node_owner`,
  'baremetal:node:list': '',
  ...Object.fromEntries(
    [
      'update_extra',
      'update_instance_info',
      'validate',
      'set_provision_state',
      'vif:list',
      'vif:attach',
      'vif:detach',
    ].map((act) => [`baremetal:node:${act}`, `${admins} or rule:is_node_owner`]),
  ),
  ...allocationRules,
});

const named = (...names: readonly string[]) => shows(names.map((name) => ({ name })));
const hidden = (node: string) => refused(404, `Node ${node} could not be found`);

/** Set `closed` without a file. */
export const closedLines: readonly Line[] = [
  ['system-admin', 'node set --owner project-owner node-7', done],
  ['system-admin', 'node set --lessee project-lessee node-10', done],
  ['system-reader', 'node show node-7 --fields owner lessee', shows({ owner: 'project-owner', lessee: null })],
  ['system-reader', 'node show node-10 --fields owner lessee', shows({ owner: null, lessee: 'project-lessee' })],
  ['system-reader', 'node list --resource-class gold --fields name', named('node-7', 'node-10')],
  ['owner-admin', 'node show node-7', hidden('node-7')],
  ['lessee-admin', 'node show node-10', hidden('node-10')],
  ['owner-admin', 'node list', refused(403, 'baremetal:node:list')],
  ['lessee-admin', 'node provide node-10', hidden('node-10')],
  ['owner-admin', 'port list', refused(403, 'baremetal:port:list')],
  ['owner-admin', 'allocation list', refused(403, 'baremetal:allocation:list')],
  ['owner-admin', 'allocation create --resource-class gold', refused(403, 'baremetal:allocation:create')],
];

/** With what it opens for nodes. */
export const nodeLines: readonly Line[] = [
  ['owner-member', 'node list --fields name', named('node-7')],
  ['lessee-member', 'node list --fields name', named('node-10')],
  ['stranger-member', 'node list --fields name', named()],
  ['owner-member', 'node list --owner project-lessee --fields name', named()],
  // The line that the guide writes for node:get admits no system reader, and a list shows what a GET does.
  ['system-reader', 'node list --resource-class gold --fields name', named()],
  ['owner-member', 'node show node-10', hidden('node-10')],
  ['stranger-member', 'node provide node-7', hidden('node-7')],
  ['lessee-member', 'node set node-10 --description leased', refused(403, 'baremetal:node:update')],
  ['owner-member', 'node power on node-7', refused(403, 'baremetal:node:set_power_state')],
  ['owner-member', 'node delete node-7', refused(403, 'baremetal:node:delete')],
  // Not in the guide, but in its words: an admin of any project is an admin to them.
  ['stranger-admin', 'node show node-7 --fields name', shows({ name: 'node-7' })],
  ['owner-member', 'node set node-7 --description owned', done],
  ['owner-member', 'node provide node-7', done],
  ['lessee-member', 'node provide node-10', done],
];

/** For ports; `port` is the address of the one of node-7, whose UUID is `node`. */
export const portLines = (port: string, node: string): readonly Line[] => [
  ['owner-member', 'port list --fields address', shows([{ address: port }])],
  ['owner-member', 'port list --node node-7 --fields address', shows([{ address: port }])],
  ['lessee-member', 'port list --fields address', shows([])],
  ['owner-member', `port show --address ${port} --fields address`, shows({ address: port })],
  ['stranger-member', 'port list', shows([])],
  ['owner-member', `port create 52:54:00:00:00:99 --node ${node}`, refused(403, 'baremetal:port:create')],
];

const made = { state: 'active', owner: 'project-owner' };

/** For allocations. */
export const allocationLines: readonly Line[] = [
  ['owner-member', 'allocation create --resource-class gold --name web --wait 60', done],
  ['owner-member', 'allocation show web', shows(made)],
  ['owner-member', 'allocation list --fields name', named('web')],
  // As with nodes: the guide's line for allocation:get admits no system reader.
  ['system-reader', 'allocation list --fields name', named()],
  ['lessee-member', 'allocation list --fields name', named()],
  ['stranger-member', 'allocation show web', refused(404, 'Allocation web could not be found')],
  ['stranger-member', 'allocation delete web', refused(404, 'Allocation web could not be found')],
  [
    'stranger-member',
    'allocation create --resource-class gold --owner project-owner',
    refused(403, 'baremetal:allocation:create'),
  ],
  ['owner-member', 'allocation set web --extra a=b --name db', done],
  ['owner-member', 'allocation show db', shows({ name: 'db', extra: { a: 'b' } })],
  ['owner-member', 'allocation delete db', done],
  ['lessee-member', 'allocation create --resource-class gold --name theirs --wait 60', done],
  ['lessee-member', 'allocation show theirs', shows({ state: 'active', owner: 'project-lessee' })],
  ['lessee-member', 'allocation delete theirs', done],
];
