/** The runbook document as a table: its commands, and the table of access at its end, line by line. */
import { done, type Line, refused, shows } from './guide';

const steps = `--steps '[{"interface":"management","step":"set_boot_device","args":{"boot_device":"disk"},"order":1}]'`;
const create = (name: string, more = ''): string => `runbook create --name ${name} ${steps} ${more}`;
const raw = `'[{"interface":"management","step":"set_boot_device","args":{"boot_device":"disk"}}]'`;
const step = { interface: 'management', step: 'set_boot_device', args: { boot_device: 'disk' }, order: 1 };

const system = shows({ owner: null, public: false });
const published = shows({ owner: null, public: true });
const ofProject = shows({ owner: 'project-owner', public: false });
const hidden = (runbook: string) => refused(404, `Runbook ${runbook} could not be found`);

/** The commands that it lists. `CUSTOM_SYSTEM` ends private and without owner, `CUSTOM_PUBLIC` public, `CUSTOM_OWN` the owner's. */
export const commandLines: readonly Line[] = [
  ['system-manager', create('CUSTOM_SYSTEM'), system],
  ['owner-manager', create('CUSTOM_OWN'), ofProject],
  ['owner-manager', create('CUSTOM_PUBLIC'), ofProject],
  ['owner-manager', 'runbook set CUSTOM_PUBLIC --public', refused(403, 'baremetal:runbook:update:public')],
  ['owner-manager', 'runbook set CUSTOM_OWN --owner project-lessee', refused(403, 'baremetal:runbook:update:owner')],
  ['system-manager', 'runbook set CUSTOM_PUBLIC --public', done],
  ['system-manager', 'runbook show CUSTOM_PUBLIC', published],
  ['system-manager', 'runbook set CUSTOM_PUBLIC --owner project-owner', refused(400, 'public')],
  ['system-manager', 'runbook unset CUSTOM_PUBLIC --public', done],
  ['system-manager', 'runbook show CUSTOM_PUBLIC', system],
  ['system-manager', 'runbook set CUSTOM_PUBLIC --owner project-owner', done],
  ['system-manager', 'runbook show CUSTOM_PUBLIC', ofProject],
  ['system-manager', 'runbook set CUSTOM_PUBLIC --public', done],
  [
    'system-manager',
    { post: '/v1/runbooks', body: { name: 'CUSTOM_BOTH', steps: [step], owner: 'project-owner', public: true } },
    refused(400, 'public'),
  ],
];

/** Nothing but /public changes publicity. */
export const publicityLines: readonly Line[] = [
  ['system-manager', 'runbook set CUSTOM_PUBLIC --name CUSTOM_SHARED', done],
  ['system-manager', `runbook set CUSTOM_SHARED ${steps} --extra a=b`, done],
  ['system-manager', 'runbook trait add CUSTOM_SHARED CUSTOM_SHARED', done],
  ['system-manager', 'runbook show CUSTOM_SHARED', published],
  ['owner-manager', 'runbook trait add CUSTOM_OWN CUSTOM_OWN', done],
  ['owner-manager', 'runbook set CUSTOM_OWN --extra a=b', done],
  ['system-manager', 'runbook show CUSTOM_OWN', ofProject],
];

const both = (verb: 'service' | 'clean', list: string) => ({
  target: verb,
  runbook: 'CUSTOM_SHARED',
  [list]: [step],
});

/** Running them. `node-7` is the owner's and manageable, `node-10` leased and in use; both are approved for CUSTOM_SHARED, node-7 for CUSTOM_OWN. */
export const runLines: readonly Line[] = [
  ['lessee-member', `node service node-10 --runbook CUSTOM_SHARED --service-steps ${raw}`, 'the client refuses'],
  ['owner-member', `node clean node-7 --runbook CUSTOM_SHARED --clean-steps ${raw}`, 'the client refuses'],
  [
    'lessee-member',
    { put: '/v1/nodes/node-10/states/provision', body: both('service', 'service_steps') },
    refused(400, 'runbook'),
  ],
  [
    'owner-member',
    { put: '/v1/nodes/node-7/states/provision', body: both('clean', 'clean_steps') },
    refused(400, 'runbook'),
  ],
  ['lessee-member', `node service node-10 --service-steps ${raw}`, refused(403, 'baremetal:node:set_provision_state')],
  ['owner-member', `node clean node-7 --clean-steps ${raw}`, refused(403, 'set_provision_state:clean_steps')],
  ['lessee-reader', 'node service node-10 --runbook CUSTOM_SHARED', refused(403, 'temper:node:run_runbook')],
  ['owner-reader', 'node clean node-7 --runbook CUSTOM_OWN', refused(403, 'temper:node:run_runbook')],
  ['lessee-member', 'node service node-10 --runbook CUSTOM_OWN', hidden('CUSTOM_OWN')],
  ['lessee-member', 'node service node-10 --runbook CUSTOM_SYSTEM', hidden('CUSTOM_SYSTEM')],
  ['stranger-member', 'node service node-10 --runbook CUSTOM_SHARED', refused(404, 'Node node-10 could not be found')],
  ['system-member', 'node clean node-7 --runbook CUSTOM_SYSTEM', refused(400, 'not approved')],
  ['lessee-member', 'node service node-10 --runbook CUSTOM_SHARED', done],
  ['owner-member', 'node clean node-7 --runbook CUSTOM_OWN', done],
];

const all = ['CUSTOM_OWN', 'CUSTOM_SHARED', 'CUSTOM_SYSTEM'];
const named = (name: string) => expect.objectContaining({ name });
const lists = (...names: readonly string[]) => shows(names.map(named));
const listsAtLeast = (...names: readonly string[]) => shows(expect.arrayContaining(names.map(named)));

/** Who may what with them, as its last table says; what `system-manager` and `owner-manager` may was typed before. */
export const accessLines: readonly Line[] = [
  ['system-admin', create('CUSTOM_ADMIN', '--public'), published],
  ['system-admin', 'runbook delete CUSTOM_ADMIN', done],
  ['system-member', create('CUSTOM_MEMBER'), system],
  ['system-member', 'runbook set CUSTOM_MEMBER --public', done],
  ['system-member', 'runbook unset CUSTOM_MEMBER --public', done],
  ['system-member', 'runbook set CUSTOM_MEMBER --owner project-owner', done],
  ['owner-member', 'runbook show CUSTOM_MEMBER', ofProject],
  ['system-member', 'runbook set CUSTOM_MEMBER --extra a=b', done],
  ['system-member', 'runbook unset CUSTOM_MEMBER --owner', done],
  ['system-member', 'runbook show CUSTOM_MEMBER', system],
  ['system-member', 'runbook delete CUSTOM_MEMBER', done],
  ['system-reader', 'runbook list', listsAtLeast(...all)],
  ['system-reader', create('CUSTOM_NOT'), refused(403, 'baremetal:runbook:create')],
  ['system-reader', 'runbook delete CUSTOM_SYSTEM', refused(403, 'baremetal:runbook:delete')],
  ['owner-admin', create('CUSTOM_ADMIN'), ofProject],
  ['owner-admin', 'runbook set CUSTOM_ADMIN --public', refused(403, 'baremetal:runbook:update:public')],
  ['owner-admin', create('CUSTOM_NOT', '--public'), refused(403, 'baremetal:runbook:update:public')],
  ['owner-admin', 'runbook set CUSTOM_SHARED --extra a=c', refused(403, 'baremetal:runbook:update')],
  ['owner-admin', 'runbook show CUSTOM_SYSTEM', hidden('CUSTOM_SYSTEM')],
  ['owner-admin', 'runbook delete CUSTOM_ADMIN', done],
  ['owner-reader', 'runbook list', lists('CUSTOM_OWN', 'CUSTOM_SHARED')],
  ['lessee-reader', 'runbook list', lists('CUSTOM_SHARED')],
  ['owner-member', create('CUSTOM_NOT'), refused(403, 'baremetal:runbook:create')],
  ['owner-member', 'runbook delete CUSTOM_OWN', refused(403, 'baremetal:runbook:delete')],
  ['stranger-admin', 'runbook delete CUSTOM_OWN', hidden('CUSTOM_OWN')],
];
