/** Every way in which steps, or what boots, can reach a node, with who gets through it under each set of rules. */
import { image, type NodeColumns, step } from './rule-world';
import type { Persona } from './world';

/** The columns of a verdict, in this order. */
export const doorPersonas = [
  'operator',
  'owner-manager',
  'owner-member',
  'lessee-manager',
  'lessee-member',
] as const satisfies readonly Persona[];

/**
 * One letter a persona: Y gets through, - is refused (403), . reads that there is no such thing (404), x is refused for
 * another reason than who it is (400).
 */
type Verdicts = { readonly temper: string; readonly ironic: string; readonly closed: string };

export type Door = {
  readonly door: string;
  /** Method and path; a name in braces is an object of the door's own world. */
  readonly ask: string;
  readonly body?: unknown;
  /** Another object of its world that must be there. */
  readonly has?: string;
  readonly node?: NodeColumns;
  readonly verdicts: Verdicts;
};

type More = Pick<Door, 'body' | 'has' | 'node'>;

const door = (
  name: string,
  ask: string,
  [temper, ironic, closed]: readonly [string, string, string],
  more: More = {},
): Door => ({
  door: name,
  ask,
  verdicts: { temper, ironic, closed },
  ...more,
});

const node = '/v1/nodes/{node}';
const provision = `PUT ${node}/states/provision`;
const manageable = { provision_state: 'manageable' };
const active = { provision_state: 'active' };

const reset = { interface: 'management', step: 'reset_bmc', args: {} };
const settings = [{ component: 'bmc', url: 'https://images.example.org/bmc.bin' }];
const firmware = { interface: 'firmware', step: 'update', args: { settings }, priority: 70 };
const raid = { interface: 'raid', step: 'create_configuration', args: {} };
const mark = { traits: ['CUSTOM_OPERATOR_SAYS'] };

const put = (path: string, value: unknown) => [{ op: 'add', path, value }];

/** Steps that the caller writes down. */
const lists: readonly Door[] = [
  door('clean_steps', provision, ['YY---', 'YYYY-', 'Y....'], {
    body: { target: 'clean', clean_steps: [reset] },
    node: manageable,
  }),
  door('clean_steps that build a RAID', provision, ['YY---', 'YYYY-', 'Y....'], {
    body: { target: 'clean', clean_steps: [raid] },
    node: {
      ...manageable,
      raid_interface: 'redfish',
      target_raid_config: { logical_disks: [{ size_gb: 'MAX', raid_level: '1' }] },
    },
  }),
  door('service_steps', provision, ['YY---', 'YYYY-', 'Y....'], {
    body: { target: 'service', service_steps: [reset] },
    node: active,
  }),
  door('deploy_steps of a deployment', provision, ['YY---', 'YYYY-', 'Y....'], {
    body: { target: 'active', deploy_steps: [firmware] },
  }),
  door('deploy_steps of a rebuild', provision, ['YY---', 'YYYY-', 'Y....'], {
    body: { target: 'rebuild', deploy_steps: [firmware] },
    node: active,
  }),
  door(
    'other arguments for a step that is parked',
    'POST /temper/v1/runs/{parked}/retry',
    ['YY-..', 'YYY..', 'Y....'],
    {
      body: { reason: 'x', args: {} },
    },
  ),
  door('a run of free steps again', 'POST /temper/v1/runs/{failed}/rerun', ['YY-..', 'YYY..', 'Y....'], {
    body: { reason: 'x' },
    node: { provision_state: 'service failed' },
  }),
];

/** Steps that were stored before. */
const stored: readonly Door[] = [
  door('a deployment by an operator’s template', provision, ['YYYY-', 'YYYY-', 'Y....'], {
    body: { target: 'active' },
    has: '{vouched}',
  }),
  door('a deployment by a template that no operator wrote', provision, ['YY---', 'YYYY-', 'Y....'], {
    body: { target: 'active' },
    has: '{unvouched}',
  }),
  door('a rebuild by a template that no operator wrote', provision, ['YY---', 'YYYY-', 'Y....'], {
    body: { target: 'rebuild' },
    has: '{unvouched}',
    node: active,
  }),
  door('a deploy template', 'POST /v1/deploy_templates', ['Y----', 'Y----', 'Y----'], {
    body: { name: 'CUSTOM_MADE', steps: [firmware] },
  }),
  door('other steps in a deploy template', 'PATCH /v1/deploy_templates/{template}', ['Y----', 'Y----', 'Y----'], {
    body: put('/steps', [firmware]),
  }),
  door('an inspection rule', 'POST /v1/inspection_rules', ['Y----', 'Y----', 'Y----'], {
    body: { actions: [{ op: 'fail' }] },
  }),
  door('other actions in an inspection rule', 'PATCH /v1/inspection_rules/{inspection}', ['Y----', 'Y----', 'Y----'], {
    body: put('/actions', [{ op: 'fail' }]),
  }),
  door('a public runbook', provision, ['YYYYY', 'Y----', 'Y....'], {
    body: { target: 'service', runbook: '{public}' },
    node: active,
  }),
  door('a runbook of the owner’s', provision, ['YYY..', 'YY-.-', 'Y....'], {
    body: { target: 'service', runbook: '{approved}' },
    node: active,
  }),
  door('a runbook of the lessee’s, which no trait of the node approves', provision, ['x..xx', 'x..x-', 'x....'], {
    body: { target: 'service', runbook: '{theirs}' },
    node: active,
  }),
  door('a runbook of one’s own', 'POST /v1/runbooks', ['YY-Y-', 'YY-Y-', 'Y----'], {
    body: { name: 'CUSTOM_OWN', steps: [{ ...step, order: 1 }] },
  }),
  door('other steps in a runbook', 'PATCH /v1/runbooks/{approved}', ['YY-..', 'YY-..', 'Y....'], {
    body: put('/steps', [{ ...step, order: 1 }]),
  }),
  door('other parameters of a runbook', 'PUT /temper/v1/runbooks/{approved}/parameters', ['YY-..', 'YY-..', 'Y....'], {
    body: { parameters: [] },
  }),
  door('a runbook for every project', 'PATCH /v1/runbooks/{approved}', ['Y--..', 'Y--..', 'Y....'], {
    body: put('/public', true),
  }),
];

/** What says that steps are right for a node. */
const approvals: readonly Door[] = [
  door('a trait of a node', `PUT ${node}/traits`, ['YY---', 'YY---', 'Y....'], { body: { traits: ['CUSTOM_X'] } }),
  door('a trait of a node, by which operators approve', `PUT ${node}/traits`, ['Y----', 'Y----', 'Y....'], {
    body: mark,
  }),
  door('one more such trait', `PUT ${node}/traits/CUSTOM_OPERATOR_SAYS`, ['Y----', 'Y----', 'Y....']),
  door('a trait of a runbook', 'PUT /v1/runbooks/{runbook}/traits', ['YY-..', 'YY-..', 'Y....'], {
    body: { traits: ['CUSTOM_X'] },
  }),
  door(
    'a trait of a runbook, by which operators approve',
    'PUT /v1/runbooks/{runbook}/traits',
    ['Y--..', 'Y--..', 'Y....'],
    {
      body: mark,
    },
  ),
  door('one more such trait of a runbook', 'PUT /v1/runbooks/{runbook}/traits/CUSTOM_OPERATOR_SAYS', [
    'Y--..',
    'Y--..',
    'Y....',
  ]),
];

const image_url = 'https://images.example.org/any.iso';

/** What boots, without a step. */
const boots: readonly Door[] = [
  door('virtual media', `POST ${node}/vmedia`, ['YYYYY', 'YYYYY', 'Y....'], {
    body: { device_type: 'cdrom', image_url },
  }),
  door('virtual media from elsewhere', `POST ${node}/vmedia`, ['xxxxx', 'xxxxx', 'xxxxx'], {
    body: { device_type: 'cdrom', image_url: 'https://elsewhere.example.org/any.iso' },
  }),
  door('the boot device', `PUT ${node}/management/boot_device`, ['YY---', 'YY---', 'Y....'], {
    body: { boot_device: 'pxe' },
  }),
  door('the RAID that is wanted', `PUT ${node}/states/raid`, ['YYY--', 'YYY--', 'Y....'], {
    body: { logical_disks: [{ size_gb: 'MAX', raid_level: '1' }] },
    node: { raid_interface: 'redfish' },
  }),
  door('the vendor’s own calls to a node', `POST ${node}/vendor_passthru/eject_vmedia`, ['Y----', 'Y----', 'Y....'], {
    body: {},
  }),
  door('the same, by a parameter', `POST ${node}/vendor_passthru?method=eject_vmedia`, ['Y----', 'Y----', 'Y....'], {
    body: {},
  }),
  door('a vendor’s call that is not offered', `POST ${node}/vendor_passthru/send_raw`, ['x----', 'x----', 'x....'], {
    body: {},
  }),
  door(
    'the vendor’s own calls to a driver',
    'POST /v1/drivers/redfish/vendor_passthru/any',
    ['x----', 'x----', 'x----'],
    {
      body: {},
    },
  ),
];

/** Keys of a node, by the field that holds them: those of the machine, and those of its instance. */
const machineKeys = ['Y----', 'YYY--', 'Y....'] as const;
const instanceKeys = ['Y----', 'YYYY-', 'Y....'] as const;
const keys: readonly Door[] = [
  ...[
    ['redfish_address', 'https://192.0.2.8'],
    ['redfish_system_id', '/redfish/v1/Systems/2'],
    ['redfish_verify_ca', false],
    ['redfish_username', 'root'],
    ['redfish_password', 'hunter2'],
    ['redfish_of_a_later_release', 'x'],
    ['ipmi_address', '192.0.2.8'],
    ['ipmi_bridging', 'no'],
    ['ipmi_password', 'hunter2'],
    ['deploy_iso', image_url],
    ['rescue_iso', image_url],
    ['deploy_kernel', image_url],
    ['deploy_ramdisk', image_url],
    ['rescue_ramdisk', image_url],
    ['deploy_ramdisk_by_arch', { x86_64: image_url }],
    ['bootloader', image_url],
    ['kernel_append_params', 'init=/bin/sh'],
  ].map(([key, value]) =>
    door(`driver_info/${key}`, `PATCH ${node}`, machineKeys, { body: put(`/driver_info/${key}`, value) }),
  ),
  door('driver_info as a whole', `PATCH ${node}`, machineKeys, {
    body: [
      { op: 'replace', path: '/driver_info', value: { redfish_address: 'https://192.0.2.7', deploy_iso: image_url } },
    ],
  }),
  door('driver_info taken away', `PATCH ${node}`, machineKeys, {
    body: [{ op: 'remove', path: '/driver_info/deploy_iso' }],
  }),
  door('driver_info/rack, which is nothing of the kind', `PATCH ${node}`, ['YYY--', 'YYY--', 'Y....'], {
    body: put('/driver_info/rack', 'r17'),
  }),
  ...[
    ['boot_iso', image_url],
    ['kernel', image_url],
    ['ramdisk', image_url],
    ['kernel_append_params', 'init=/bin/sh'],
    ['ks_template', image_url],
  ].map(([key, value]) =>
    door(`instance_info/${key}`, `PATCH ${node}`, instanceKeys, { body: put(`/instance_info/${key}`, value) }),
  ),
  door('instance_info as a whole', `PATCH ${node}`, instanceKeys, {
    body: [{ op: 'replace', path: '/instance_info', value: { ...image, boot_iso: image_url } }],
  }),
  door('instance_info/image_source, which is the instance’s own disk', `PATCH ${node}`, ['YYYY-', 'YYYY-', 'Y....'], {
    body: put('/instance_info/image_source', image_url),
  }),
  ...['replace', 'add'].map((op) =>
    door(`the class by which a node is cleaned (${op})`, `PATCH ${node}`, ['YY---', 'YYYYY', 'Y....'], {
      body: [{ op, path: '/resource_class', value: 'gold' }],
      node: { resource_class: 'silver' },
    }),
  ),
  door('the class by which a node is cleaned, taken away', `PATCH ${node}`, ['YY---', 'YYYYY', 'Y....'], {
    body: [{ op: 'remove', path: '/resource_class' }],
    node: { resource_class: 'silver' },
  }),
  door('the class that a node has already', `PATCH ${node}`, ['YYYYY', 'YYYYY', 'Y....'], {
    body: put('/resource_class', 'silver'),
    node: { resource_class: 'silver' },
  }),
  door('maintenance by a patch', `PATCH ${node}`, ['YYYY-', 'YYYYY', 'Y....'], { body: put('/maintenance', true) }),
  door('an end of maintenance by a patch', `PATCH ${node}`, ['YYYY-', 'YYYYY', 'Y....'], {
    body: put('/maintenance', 'false'),
    node: { maintenance: true },
  }),
  door('maintenance taken away by a patch', `PATCH ${node}`, ['YYYY-', 'YYYYY', 'Y....'], {
    body: [{ op: 'remove', path: '/maintenance' }],
    node: { maintenance: true },
  }),
  door('the deploy interface', `PATCH ${node}`, ['Y----', 'YY---', 'Y....'], {
    body: put('/deploy_interface', 'ramdisk'),
    node: manageable,
  }),
  door('the deploy interface, by another driver', `PATCH ${node}?reset_interfaces=true`, ['Y----', 'YY---', 'Y....'], {
    body: put('/driver', 'fake-hardware'),
    node: manageable,
  }),
  door('a node with all of it', 'POST /v1/nodes', ['Y----', 'Y----', 'Y----'], {
    body: { driver: 'redfish', driver_info: { redfish_address: 'https://192.0.2.9', deploy_iso: image_url } },
  }),
];

export const doors: readonly Door[] = [...lists, ...stored, ...approvals, ...boots, ...keys];

/** Requests for a change that bring a node no steps and nothing to boot, by what their routes look like. */
export const noDoors: readonly (readonly [routes: RegExp, why: string])[] = [
  [/^POST \/temper\/v1\/runbooks\/:runbook\/revisions\/:revision\/withdraw$/, 'takes something away'],
  [/^POST \/temper\/v1\/nodes\/:node\/plan$/, 'changes nothing: it says what would run, and what refuses it'],
  [/^POST \/temper\/v1\/runbooks\/(:runbook\/)?check$/, 'changes nothing: it says what is wrong with a runbook'],
  [/^POST \/temper\/v1\/policy\/can$/, 'changes nothing: it says what the caller may do'],
  [/^DELETE /, 'takes something away'],
  [/\/v1\/(ports|portgroups|chassis|volume\/\w+)\b/, 'describes hardware; no interface boots from what it says'],
  [/\/vifs$/, 'names a network'],
  [/\/states\/(power|boot_mode|secure_boot|console)$/, 'one act that is fixed'],
  [/\/management\/(inject_nmi|indicators)/, 'one act that is fixed'],
  [/\/maintenance$/, 'keeps the workers away'],
  [/\/runs\/:run\/(abort|pause|resume|skip|fail)$/, 'ends, stops or shortens what was asked for'],
  [/\/v1\/allocations\b/, 'gives a node; the deployment asks the rules of the templates that its traits name'],
  [/\/freezes$/, 'keeps the workers away'],
  [/^POST \/temper\/v1\/incidents\/acknowledge$/, 'a note about a fault'],
  [
    /^POST \/temper\/v1\/nodes\/bulk(\/preview)?$/,
    'acts that are fixed, maintenance and tenants: each node by the checks of the request for it alone, without steps and images',
  ],
  [/^POST \/temper\/v1\/nodes\/:node\/console$/, 'reads and types on the serial line; no step and no boot comes of it'],
  [/^POST \/temper\/v1\/recovery$/, 'compares after a restore, and lets go on what was asked for before'],
  [/\/webhooks\b/, 'reports events'],
  [/\/disruption-budgets\b/, 'keeps rollouts away'],
  [/\/windows\b/, 'hours in which a project admits rollouts that have their own rules'],
  [
    /\/temper\/v1\/rollouts\b/,
    'asks for each node what a request for that node alone would be asked, at the plan and before each run',
  ],
  [
    /\/temper\/v1\/ramdisks\b/,
    'a record of system administrators; a node boots from it by its own driver_info, which is guarded',
  ],
  [
    /\/temper\/v1\/images\b/,
    'a record of system administrators; a node is deployed with it by the rules of a deployment',
  ],
  [
    /\/temper\/v1\/discovered-machines\b/,
    'machines that no node stands for; one that is enrolled is asked what a new node is asked',
  ],
  [/^POST \/v1\/events$/, 'reports networks'],
  [/^\w+ \/v1\/nodes\/:\w+\/(ports|portgroups|volume)\b/, 'refused to every caller: there they are only listed'],
  [/^(PUT|PATCH) \S+\/vendor_passthru\b/, 'asks what POST asks'],
  [/^POST \/v1\/drivers\/:\w+\/vendor_passthru\b/, 'walked with a driver’s name'],
];
