/** Every rule of the product with a request that asks it, a persona whom it admits and one whom it refuses. */
import { image, type NodeColumns, privateImage, step } from './rule-world';
import { type Persona as Known, owner, type passersBy, stranger } from './world';

type Persona = Known | 'stranger-roleless' | keyof typeof passersBy;

type Body = { readonly [key: string]: unknown };

export type RuleRow = {
  readonly rule: string;
  /** Method and path; a name in braces is an object of the row's own world. */
  readonly ask: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly may: Persona;
  readonly mayNot: Persona;
  /** Another object of its world that must be there. */
  readonly has?: string;
  /** Columns of its node that differ. */
  readonly node?: NodeColumns;
  /** A caller who is refused reads that there is no such thing. */
  readonly hidden?: true;
  /** Both are answered, and only the admitted is shown this. */
  readonly shows?: (body: Body, node: string) => boolean;
  /** The rule that a refusal names, where another one is asked last, wider or narrower. */
  readonly names?: string;
  /** Status of a refusal that has a way out, and says so, beside the rule. */
  readonly refused?: 400 | 409;
  /** Texts of other rules that would refuse first, opened for this row. */
  readonly opens?: Readonly<Record<string, string>>;
  /** Texts under which the row's refusal is asked: for rules that by default admit every caller. */
  readonly shuts?: Readonly<Record<string, string>>;
  /** Name of the project whose service users act as system members. */
  readonly elevated?: string;
};

type Options = Omit<RuleRow, 'rule' | 'ask' | 'may' | 'mayNot'>;

const row = (rule: string, ask: string, may: Persona, mayNot: Persona, options: Options = {}): RuleRow => ({
  rule,
  ask,
  may,
  mayNot,
  ...options,
});

const node = '/v1/nodes/{node}';
const reason = { reason: 'x' };

/** Whether a list holds the node of the row, or what is below it. */
const lists =
  (key: string, by = 'uuid') =>
  (body: Body, uuid: string): boolean =>
    (body[key] as Body[]).some((one) => one[by] === uuid);

const field = (name: string, value: (shown: unknown) => boolean) => (body: Body) => value(body[name]);
const redacted = (shown: unknown): boolean => /redacted/i.test(JSON.stringify(shown));

const change = (path: string, value: unknown) => [{ op: 'add', path: `/${path}`, value }];

const seenPlan = { plan_hash: '0'.repeat(64) };

/** What is done to rollouts, to one in which state, and what comes with it. */
const rolloutActs: readonly (readonly [act: string, at: string, body?: object])[] = [
  ['submit', 'rollout', seenPlan],
  ['start', 'rollout', seenPlan],
  ['pause', 'rolling'],
  ['resume', 'stopped'],
  ['advance', 'gated'],
  ['abort', 'rolling'],
  ['adopt', 'rolling'],
];

const inManageable: Options = { node: { provision_state: 'manageable' } };

/** Fields of a node, each with the rule that lets it be changed. */
const nodeFields: readonly (readonly [
  rule: string,
  path: string,
  value: unknown,
  may: Persona,
  mayNot: Persona,
  options?: Options,
])[] = [
  ['update', 'description', 'x', 'lessee-member', 'lessee-reader'],
  ['update_extra', 'extra/a', 1, 'lessee-member', 'lessee-reader'],
  ['update_instance_info', 'instance_info/a', 1, 'lessee-manager', 'lessee-member'],
  ['update:driver_info', 'driver_info/a', 1, 'owner-member', 'lessee-admin'],
  ['update:properties', 'properties/a', 1, 'owner-member', 'lessee-admin'],
  ['update:chassis_uuid', 'chassis_uuid', '{chassis}', 'operator', 'owner-admin'],
  ['update:instance_uuid', 'instance_uuid', '{port}', 'owner-member', 'lessee-admin'],
  ['update:lessee', 'lessee', stranger, 'owner-member', 'lessee-admin'],
  ['update:owner', 'owner', stranger, 'system-member', 'owner-admin'],
  ['update:driver_interfaces', 'management_interface', 'redfish', 'owner-manager', 'owner-member', inManageable],
  ['update:network_data', 'network_data', {}, 'owner-member', 'lessee-admin'],
  ['update:conductor_group', 'conductor_group', 'g', 'system-member', 'owner-admin'],
  ['update:name', 'name', 'renamed', 'owner-member', 'lessee-admin'],
  ['update:retired', 'retired', true, 'owner-member', 'lessee-admin', inManageable],
  ['update:shard', 'shard', 's', 'operator', 'system-member'],
  ['update:parent_node', 'parent_node', '{other}', 'system-member', 'owner-admin'],
  ['update:disable_power_off', 'disable_power_off', true, 'operator', 'system-member'],
  ['disable_cleaning', 'automated_clean', false, 'operator', 'owner-admin'],
];

/** Keys of a node with a rule of their own: a caller who may change the field is refused all the same. */
const keyRows: readonly (readonly [what: string, path: string, value: unknown, mayNot: Persona, options?: Options])[] =
  [
    ['bmc_address', 'driver_info/redfish_address', 'https://192.0.2.8', 'owner-member'],
    ['bmc_credentials', 'driver_info/redfish_username', 'root', 'owner-member'],
    ['ramdisk', 'driver_info/deploy_iso', 'https://images.example.org/other.iso', 'owner-member'],
    ['kernel_params', 'instance_info/kernel_append_params', 'init=/bin/sh', 'lessee-manager'],
    ['instance_boot', 'instance_info/boot_iso', 'https://images.example.org/other.iso', 'lessee-manager'],
    ['deploy_interface', 'deploy_interface', 'ramdisk', 'owner-manager', inManageable],
    ['resource_class', 'resource_class', 'gold', 'owner-member'],
    ['set_maintenance', 'maintenance', true, 'lessee-member'],
    ['clear_maintenance', 'maintenance', false, 'lessee-member', { node: { maintenance: true } }],
  ];

/** Steps that projects' runbooks hold where operators admit it. */
const keptSteps = [
  ['firmware', 'update'],
  ['deploy', 'update_nvidia_nic_firmware_image'],
  ['deploy', 'update_nvidia_nic_firmware_settings'],
  ['management', 'attach_virtual_media'],
  ['management', 'reset_secure_boot_keys_to_default'],
  ['management', 'clear_secure_boot_keys'],
  ['management', 'reset_bmc'],
  ['deploy', 'generic_container_step'],
] as const;

/** Resources that belong to a node, by the prefix of their rules. */
const nodeResources = [
  ['portgroup', '/v1/portgroups', '{portgroup}', 'portgroups', {}, '/extra/a'],
  ['port', '/v1/ports', '{port}', 'ports', { address: '52:54:00:0a:0b:0c' }, '/extra/a'],
  [
    'volume',
    '/v1/volume/connectors',
    '{connector}',
    'connectors',
    { type: 'ip', connector_id: '192.0.2.9' },
    '/extra/a',
  ],
] as const;

const ofNodes = nodeResources.flatMap(([what, path, one, key, body, extra]): RuleRow[] => {
  const rule = (act: string) => `baremetal:${what}:${act}`;
  const changes = change(extra.slice(1), 1);
  return [
    row(rule('list'), `GET ${path}`, 'stranger-admin', 'stranger-roleless'),
    row(rule('list_all'), `GET ${path}?detail=true&limit=1000`, 'system-reader', 'stranger-admin', {
      has: one,
      shows: lists(key, 'node_uuid'),
    }),
    row(rule('get'), `GET ${path}/${one}`, 'lessee-reader', 'stranger-admin', { hidden: true }),
    row(rule('create'), `POST ${path}`, 'owner-manager', 'lessee-member', { body: { node_uuid: '{node}', ...body } }),
    row(rule('update'), `PATCH ${path}/${one}`, 'owner-manager', 'lessee-member', { body: changes }),
    row(rule('delete'), `DELETE ${path}/${one}`, 'owner-manager', 'lessee-member'),
  ];
});

/** Resources of the installation: system callers alone. */
const systemResources = [
  ['chassis', '/v1/chassis', '{chassis}', {}, change('extra/a', 1)],
  [
    'deploy_template',
    '/v1/deploy_templates',
    '{template}',
    { name: 'CUSTOM_MADE', steps: [{ ...step, priority: 1 }] },
    change('extra/a', 1),
  ],
  [
    'inspection_rule',
    '/v1/inspection_rules',
    '{inspection}',
    { actions: [{ op: 'fail' }] },
    change('description', 'x'),
  ],
] as const;

const ofSystem = systemResources.flatMap(([what, path, one, body, changes]): RuleRow[] => {
  const rule = (act: string) => `baremetal:${what}:${act}`;
  return [
    row(rule('get'), `GET ${path}/${one}`, 'system-reader', 'owner-admin'),
    row(rule('create'), `POST ${path}`, 'operator', 'system-member', { body }),
    row(rule('update'), `PATCH ${path}/${one}`, 'operator', 'system-reader', { body: changes }),
    row(rule('delete'), `DELETE ${path}/${one}`, 'operator', 'system-member'),
  ];
});

const withConsole: NodeColumns = { driver: 'fake-hardware', console_interface: 'fake' };

/** Of the prefix that only operators may use. */
const mark = { traits: ['CUSTOM_OPERATOR_SAYS'] };

const provision = `PUT ${node}/states/provision`;
const settings = [{ component: 'bmc', url: 'https://images.example.org/bmc.bin' }];
const firmware = { interface: 'firmware', step: 'update', args: { settings } };
const power = { interface: 'management', step: 'reset_bmc', args: {} };

const runRows = (['abort', 'pause', 'resume', 'fail', 'retry'] as const).map((act) =>
  row(`temper:run:${act}`, `POST /temper/v1/runs/{parked}/${act}`, 'owner-member', 'owner-reader', { body: reason }),
);

const ramdisk = {
  name: 'rules-new',
  iso_sha256: 'a'.repeat(64),
  iso_bytes: 2_048,
  arguments_at: 0,
  arguments_bytes: 1_024,
  files_at: 1_024,
  files_bytes: 1_024,
};
const discovered = '/temper/v1/discovered-machines/{discovered}';
const imageRecord = { name: 'rules-new', sha256: 'a'.repeat(64), bytes: 2_048, disk_format: 'raw' };
const webhook = { url: 'https://hooks.example.org/y', kinds: ['*'], secret: `whsec_${'y'.repeat(32)}` };

const networkEvent = {
  event: 'network.bind_port',
  port_id: '11111111-2222-4333-8444-555555555555',
  mac_address: '52:54:00:0a:0b:0c',
  status: 'ACTIVE',
};

const bookChange = (path: string, value: unknown, options: Options = {}): Options => ({
  body: change(path, value),
  ...options,
});

/** Texts that other rules refer to, seen by whom the rule of a node admits when it is that text alone. */
const helperRows = (
  [
    ['admin_api', 'stranger-admin', 'owner-manager'],
    ['is_admin', 'stranger-admin', 'owner-manager'],
    ['is_member', 'demo-reader', 'owner-admin'],
    ['is_observer', 'demo-observer', 'demo-reader'],
    ['is_node_owner', 'owner-reader', 'lessee-admin'],
    ['is_node_lessee', 'lessee-reader', 'owner-admin'],
  ] as const
).map(([rule, may, mayNot]) =>
  row(rule, `GET ${node}`, may, mayNot, { hidden: true, opens: { 'baremetal:node:get': `rule:${rule}` } }),
);

const roleless = 'stranger-roleless';
const waiting: NodeColumns = { provision_state: 'clean wait', booted: true };
const beat = { callback_url: 'https://127.0.0.1:9999', agent_version: '11.0.0', agent_token: '{token}' };
const found = { interfaces: [{ mac_address: '52:54:00:0d:0e:0f' }] };

/** What a ramdisk asks: it has no token, and is known by its node's. Every caller may, until an operator says otherwise. */
const ramdiskRows = (
  [
    ['baremetal:driver:ipa_lookup', 'GET /v1/lookup?node_uuid={node}', { node: waiting }],
    ['baremetal:node:ipa_heartbeat', 'POST /v1/heartbeat/{node}', { node: waiting, body: beat }],
    [
      'baremetal:driver:ipa_continue_inspection',
      'POST /v1/continue_inspection?node_uuid={node}',
      {
        node: { provision_state: 'inspect wait', inspect_interface: 'agent', booted: true },
        body: { inventory: found },
      },
    ],
  ] as const
).map(([rule, ask, options]) => row(rule, ask, roleless, roleless, { ...options, shuts: { [rule]: '!' } }));

export const ruleRows: readonly RuleRow[] = [
  ...helperRows,
  row('is_allocation_owner', 'GET /v1/allocations/{allocation}', 'owner-reader', 'system-reader', {
    hidden: true,
    opens: { 'baremetal:allocation:get': 'rule:is_allocation_owner' },
  }),
  row('service_role', `GET ${node}`, 'service-user', 'service-elsewhere', { hidden: true, elevated: 'service' }),
  row('public_api', 'GET /v1/lookup?node_uuid={node}', roleless, roleless, {
    node: waiting,
    opens: { 'baremetal:driver:ipa_lookup': 'rule:public_api' },
    shuts: { 'baremetal:driver:ipa_lookup': 'not rule:public_api' },
    names: 'baremetal:driver:ipa_lookup',
  }),
  ...ramdiskRows,
  ...nodeFields.map(([rule, path, value, may, mayNot, options]) =>
    row(`baremetal:node:${rule}`, `PATCH ${node}`, may, mayNot, { body: change(path, value), ...options }),
  ),
  row('baremetal:node:update_owner_provisioned', `PATCH ${node}`, 'operator', 'system-member', {
    body: change('owner', stranger),
    node: { provision_state: 'active' },
    refused: 409,
  }),
  row('temper:node:move_credentials', `PATCH ${node}`, 'system-member', 'owner-admin', {
    body: change('driver_info/redfish_verify_ca', '/etc/ca.pem'),
    refused: 400,
    names: 'an operator may name',
  }),
  ...keyRows.map(([what, path, value, mayNot, options]) =>
    row(`temper:node:update:${what}`, `PATCH ${node}`, 'system-member', mayNot, {
      body: change(path, value),
      ...options,
    }),
  ),
  row('baremetal:node:create', 'POST /v1/nodes', 'operator', 'system-member', { body: { driver: 'fake-hardware' } }),
  row('baremetal:node:create:self_owned_node', 'POST /v1/nodes', 'owner-admin', 'owner-manager', {
    body: { driver: 'fake-hardware' },
    names: 'baremetal:node:create',
  }),
  row('baremetal:node:delete', `DELETE ${node}`, 'operator', 'system-member'),
  row('baremetal:node:delete:self_owned_node', `DELETE ${node}`, 'owner-admin', 'owner-manager', {
    names: 'baremetal:node:delete',
  }),
  row('baremetal:node:list', 'GET /v1/nodes', 'stranger-admin', 'stranger-roleless'),
  row('baremetal:node:list_all', 'GET /v1/nodes?limit=1000', 'system-reader', 'stranger-admin', {
    shows: lists('nodes'),
  }),
  row('baremetal:node:get', `GET ${node}`, 'lessee-reader', 'stranger-admin', { hidden: true }),
  row('baremetal:node:get:last_error', `GET ${node}`, 'owner-reader', 'lessee-admin', {
    shows: field('last_error', (shown) => shown === 'told'),
  }),
  ...['driver_info', 'driver_internal_info', 'reservation'].map((name) =>
    row(`baremetal:node:get:${name}`, `GET ${node}`, 'owner-reader', 'lessee-admin', {
      shows: field(name, (shown) => !redacted(shown)),
    }),
  ),
  row('baremetal:node:get:filter_threshold', `GET ${node}`, 'system-reader', 'owner-admin', {
    shows: field('last_error', (shown) => !redacted(shown)),
    // Whom it admits is asked no rule of a single field.
    opens: { 'baremetal:node:get:last_error': '!' },
  }),
  row('baremetal:node:validate', `GET ${node}/validate`, 'lessee-manager', 'lessee-member'),
  row('baremetal:node:set_maintenance', `PUT ${node}/maintenance`, 'lessee-manager', 'lessee-member', { body: reason }),
  row('baremetal:node:clear_maintenance', `DELETE ${node}/maintenance`, 'lessee-manager', 'lessee-member', {
    node: { maintenance: true },
  }),
  row('baremetal:node:get_boot_device', `GET ${node}/management/boot_device`, 'owner-manager', 'owner-member'),
  row('baremetal:node:set_boot_device', `PUT ${node}/management/boot_device`, 'owner-manager', 'owner-member', {
    body: { boot_device: 'pxe' },
  }),
  row('baremetal:node:inject_nmi', `PUT ${node}/management/inject_nmi`, 'owner-manager', 'owner-member', { body: {} }),
  row('baremetal:node:get_indicator_state', `GET ${node}/management/indicators`, 'lessee-reader', 'stranger-admin', {
    hidden: true,
  }),
  row(
    'baremetal:node:set_indicator_state',
    `PUT ${node}/management/indicators/led@chassis`,
    'owner-member',
    'lessee-admin',
    {
      body: { state: 'on' },
    },
  ),
  row('baremetal:node:get_states', `GET ${node}/states`, 'lessee-reader', 'stranger-admin', { hidden: true }),
  row('baremetal:node:set_power_state', `PUT ${node}/states/power`, 'lessee-member', 'lessee-reader', {
    body: { target: 'power on' },
  }),
  row('baremetal:node:set_boot_mode', `PUT ${node}/states/boot_mode`, 'lessee-member', 'lessee-reader', {
    body: { target: 'uefi' },
  }),
  row('baremetal:node:set_secure_boot', `PUT ${node}/states/secure_boot`, 'lessee-member', 'lessee-reader', {
    body: { target: true },
  }),
  row('baremetal:node:set_provision_state', provision, 'lessee-manager', 'lessee-member', {
    body: { target: 'manage' },
  }),
  row('baremetal:node:set_provision_state:clean_steps', provision, 'owner-manager', 'owner-member', {
    body: { target: 'clean', clean_steps: [power] },
    node: { provision_state: 'manageable' },
  }),
  row('baremetal:node:set_provision_state:service_steps', provision, 'owner-manager', 'owner-member', {
    body: { target: 'service', service_steps: [power] },
    node: { provision_state: 'active' },
  }),
  row('temper:node:deploy_steps', provision, 'owner-manager', 'owner-member', {
    body: { target: 'active', deploy_steps: [{ ...firmware, priority: 70 }] },
  }),
  row('temper:node:deploy_for_instance', provision, 'service-user', 'operator', {
    body: { target: 'active' },
    // A project of the node could have written instance_info.
    node: {
      owner: null,
      lessee: null,
      instance_info: { image_source: privateImage.id, project_id: privateImage.owner },
    },
    elevated: 'service',
    refused: 400,
    names: 'InvalidImage',
  }),
  row('temper:node:deploy_any_image', provision, 'operator', 'system-member', {
    body: { target: 'active' },
    node: { instance_info: { image_source: privateImage.id } },
    opens: { 'temper:node:deploy_any_image': 'role:admin and system_scope:all' },
    refused: 400,
    names: 'InvalidImage',
  }),
  row('temper:node:run_runbook', provision, 'lessee-member', 'lessee-reader', {
    body: { target: 'service', runbook: '{public}' },
    node: { provision_state: 'active' },
  }),
  row('baremetal:runbook:use', provision, 'owner-member', 'owner-reader', {
    body: { target: 'service', runbook: '{approved}' },
    node: { provision_state: 'active' },
    opens: { 'temper:node:run_runbook': 'role:reader' },
  }),
  row('baremetal:node:set_raid_state', `PUT ${node}/states/raid`, 'owner-member', 'lessee-admin', {
    body: { logical_disks: [{ size_gb: 'MAX', raid_level: '1' }] },
    node: { raid_interface: 'redfish' },
  }),
  row('baremetal:node:get_console', `GET ${node}/states/console`, 'owner-member', 'owner-reader', {
    node: withConsole,
  }),
  row('baremetal:node:set_console_state', `PUT ${node}/states/console`, 'owner-member', 'owner-reader', {
    body: { enabled: true },
    node: withConsole,
  }),
  row('baremetal:node:vif:list', `GET ${node}/vifs`, 'lessee-reader', 'stranger-admin', { hidden: true }),
  row('baremetal:node:vif:attach', `POST ${node}/vifs`, 'lessee-manager', 'lessee-member', {
    body: { id: '11111111-2222-4333-8444-555555555555' },
  }),
  row('baremetal:node:vif:detach', `DELETE ${node}/vifs/{vif}`, 'lessee-manager', 'lessee-member'),
  row('baremetal:node:traits:list', `GET ${node}/traits`, 'lessee-reader', 'stranger-admin', { hidden: true }),
  row('baremetal:node:traits:set', `PUT ${node}/traits`, 'owner-manager', 'owner-member', {
    body: { traits: ['CUSTOM_X'] },
  }),
  row('baremetal:node:traits:delete', `DELETE ${node}/traits`, 'owner-manager', 'owner-member'),
  row('baremetal:node:bios:get', `GET ${node}/bios`, 'lessee-reader', 'stranger-admin', { hidden: true }),
  row('baremetal:node:firmware:get', `GET ${node}/firmware`, 'lessee-reader', 'stranger-admin', { hidden: true }),
  row('baremetal:node:history:get', `GET ${node}/history`, 'owner-reader', 'lessee-admin'),
  row('baremetal:node:inventory:get', `GET ${node}/inventory`, 'owner-reader', 'lessee-admin', { has: '{inventory}' }),
  row('baremetal:node:vmedia:get', `GET ${node}/vmedia`, 'lessee-reader', 'stranger-admin', { hidden: true }),
  row('baremetal:node:vmedia:attach', `POST ${node}/vmedia`, 'lessee-member', 'lessee-reader', {
    body: { device_type: 'cdrom', image_url: image.image_source },
  }),
  row('baremetal:node:vmedia:detach', `DELETE ${node}/vmedia`, 'lessee-member', 'lessee-reader'),
  row('temper:node:steps', 'GET /temper/v1/nodes/{node}/steps', 'lessee-reader', 'stranger-admin', { hidden: true }),
  row('temper:node:operator_traits', `PUT ${node}/traits`, 'system-member', 'owner-admin', { body: mark }),
  row('temper:runbook:operator_traits', 'PUT /v1/runbooks/{runbook}/traits', 'system-member', 'owner-admin', {
    body: mark,
  }),
  ...ofNodes,
  row('baremetal:volume:view_target_properties', 'GET /v1/volume/targets/{target}', 'owner-admin', 'owner-member', {
    shows: field('properties', (shown) => !redacted(shown)),
  }),
  ...ofSystem,
  row('baremetal:inspection_rule:list_all', 'GET /v1/inspection_rules', 'system-reader', 'owner-admin', {
    opens: { 'baremetal:inspection_rule:get': 'role:reader' },
  }),
  row('baremetal:shards:get', 'GET /v1/shards', 'system-reader', 'owner-admin'),
  row('baremetal:conductor:get', 'GET /v1/conductors', 'system-reader', 'owner-admin'),
  row('baremetal:driver:get', 'GET /v1/drivers', 'system-reader', 'owner-admin'),
  row('baremetal:driver:get_properties', 'GET /v1/drivers/redfish/properties', 'system-reader', 'owner-admin'),
  row(
    'baremetal:driver:get_raid_logical_disk_properties',
    'GET /v1/drivers/redfish/raid/logical_disk_properties',
    'system-reader',
    'owner-admin',
  ),
  row('baremetal:node:vendor_passthru', `GET ${node}/vendor_passthru/methods`, 'operator', 'owner-admin'),
  row(
    'baremetal:driver:vendor_passthru',
    'GET /v1/drivers/redfish/vendor_passthru/methods',
    'operator',
    'system-member',
  ),
  row('baremetal:events:post', 'POST /v1/events', 'operator', 'system-member', { body: { events: [networkEvent] } }),
  row('baremetal:allocation:get', 'GET /v1/allocations/{allocation}', 'owner-reader', 'stranger-admin', {
    hidden: true,
  }),
  row('baremetal:allocation:list', 'GET /v1/allocations', 'stranger-admin', 'stranger-roleless'),
  row('baremetal:allocation:list_all', 'GET /v1/allocations', 'system-reader', 'stranger-admin', {
    shows: ({ allocations }) => (allocations as Body[]).some((one) => one.owner === owner),
  }),
  row('baremetal:allocation:create', 'POST /v1/allocations', 'system-member', 'owner-member', {
    body: { resource_class: 'x', owner: stranger },
  }),
  row('baremetal:allocation:create_restricted', 'POST /v1/allocations', 'owner-member', 'owner-reader', {
    body: { resource_class: 'x' },
  }),
  row('baremetal:allocation:update', 'PATCH /v1/allocations/{allocation}', 'owner-member', 'owner-reader', {
    body: change('extra/a', 1),
  }),
  row('baremetal:allocation:delete', 'DELETE /v1/allocations/{allocation}', 'owner-member', 'owner-reader'),
  row('baremetal:runbook:get', 'GET /v1/runbooks/{runbook}', 'owner-reader', 'stranger-admin', { hidden: true }),
  row('baremetal:runbook:list', 'GET /v1/runbooks', 'stranger-admin', 'stranger-roleless'),
  row('baremetal:runbook:list_all', 'GET /v1/runbooks?detail=true', 'system-reader', 'stranger-admin', {
    shows: ({ runbooks }) => (runbooks as Body[]).some((one) => one.owner === owner),
  }),
  row('baremetal:runbook:create', 'POST /v1/runbooks', 'owner-manager', 'owner-member', {
    body: { name: 'CUSTOM_OWN', steps: [{ ...step, order: 1 }] },
  }),
  row(
    'baremetal:runbook:update',
    'PATCH /v1/runbooks/{runbook}',
    'owner-manager',
    'owner-member',
    bookChange('extra/a', 1),
  ),
  row(
    'baremetal:runbook:update:public',
    'PATCH /v1/runbooks/{runbook}',
    'system-member',
    'owner-admin',
    bookChange('public', true),
  ),
  row(
    'baremetal:runbook:update:owner',
    'PATCH /v1/runbooks/{runbook}',
    'system-member',
    'owner-admin',
    bookChange('owner', stranger),
  ),
  row('baremetal:runbook:delete', 'DELETE /v1/runbooks/{runbook}', 'owner-manager', 'owner-member'),
  ...keptSteps.map(([of, name], nth) =>
    row(`baremetal:step:execute:${of}.${name}`, 'POST /v1/runbooks', 'system-member', 'owner-manager', {
      body: { name: `kept-${nth}`, steps: [{ interface: of, step: name, args: {}, order: 1 }] },
    }),
  ),
  row(
    'temper:runbook:share_trait',
    'PUT /v1/runbooks/{runbook}/traits/CUSTOM_SHARED',
    'system-member',
    'owner-manager',
    {
      has: '{claimed}',
      refused: 409,
    },
  ),
  row(
    'temper:runbook:withdraw',
    'POST /temper/v1/runbooks/{runbook}/revisions/1/withdraw',
    'owner-manager',
    'owner-member',
    { body: reason },
  ),
  row('temper:runbook:author', 'GET /temper/v1/runbooks/{public}/revisions', 'system-reader', 'lessee-reader', {
    shows: ({ revisions }) => (revisions as Body[]).some(({ author }) => author !== null),
  }),
  row('temper:runbook:match_name', provision, 'operator', 'operator', {
    body: { target: 'service', runbook: '{named}' },
    node: { provision_state: 'active' },
    shuts: { 'temper:runbook:match_name': '!' },
    refused: 400,
    names: 'which has none yet',
  }),
  row('temper:runbook:cross', provision, 'operator', 'system-member', {
    body: { target: 'service', runbook: '{foreign}' },
    headers: { 'x-temper-reason': 'x' },
    node: { provision_state: 'active', lessee: null },
    opens: { 'temper:runbook:cross': 'role:admin and system_scope:all' },
  }),
  row('temper:runbook:cross_without_reason', provision, 'operator', 'system-member', {
    body: { target: 'service', runbook: '{foreign}' },
    node: { provision_state: 'active', lessee: null },
    opens: { 'temper:runbook:cross_without_reason': 'role:admin and system_scope:all' },
    names: 'temper:runbook:cross',
  }),
  row('temper:run:get', 'GET /temper/v1/runs/{running}', 'owner-reader', 'lessee-admin', { hidden: true }),
  ...runRows,
  row('temper:run:skip', 'POST /temper/v1/runs/{parked}/skip', 'owner-manager', 'owner-member', { body: reason }),
  row('temper:run:rerun', 'POST /temper/v1/runs/{failed}/rerun', 'owner-manager', 'owner-reader', {
    body: reason,
    node: { provision_state: 'service failed' },
  }),
  row('temper:freeze:get', 'GET /temper/v1/nodes/{node}/freezes', 'lessee-reader', 'stranger-admin', { hidden: true }),
  row('temper:freeze:create', 'POST /temper/v1/nodes/{node}/freezes', 'system-member', 'owner-admin', { body: reason }),
  row('temper:freeze:delete', 'DELETE /temper/v1/freezes/{freeze}', 'system-member', 'owner-admin'),
  row('temper:webhook:get', 'GET /temper/v1/webhooks', 'operator', 'system-member'),
  row('temper:webhook:create', 'POST /temper/v1/webhooks', 'operator', 'system-member', { body: webhook }),
  row('temper:webhook:update', 'PATCH /temper/v1/webhooks/{webhook}', 'owner-manager', 'owner-member', {
    hidden: true,
    body: { enabled: false },
  }),
  row('temper:webhook:delete', 'DELETE /temper/v1/webhooks/{webhook}', 'operator', 'lessee-manager', {
    hidden: true,
  }),
  row('temper:ramdisk:get', 'GET /temper/v1/ramdisks', 'system-reader', 'owner-admin'),
  row('temper:ramdisk:create', 'POST /temper/v1/ramdisks', 'operator', 'system-member', { body: ramdisk }),
  row('temper:ramdisk:delete', 'DELETE /temper/v1/ramdisks/{ramdisk}', 'operator', 'system-member'),
  row('temper:image:get', 'GET /temper/v1/images', 'system-reader', 'owner-admin'),
  row('temper:image:create', 'POST /temper/v1/images', 'operator', 'system-member', { body: imageRecord }),
  row('temper:image:delete', 'DELETE /temper/v1/images/{image}', 'operator', 'system-member'),
  row('temper:discovered_machine:get', 'GET /temper/v1/discovered-machines', 'system-reader', 'owner-admin'),
  row('temper:discovered_machine:enroll', `POST ${discovered}/enroll`, 'operator', 'system-member', {
    body: { revision: 'x', driver: 'fake-hardware' },
  }),
  row('temper:discovered_machine:refuse', `POST ${discovered}/refuse`, 'operator', 'system-member', { body: reason }),
  row('temper:discovered_machine:delete', `DELETE ${discovered}`, 'operator', 'system-member'),
  row('temper:disruption_budget:get', 'GET /temper/v1/disruption-budgets/{budget}', 'owner-reader', 'lessee-admin', {
    hidden: true,
  }),
  row('temper:disruption_budget:create', 'POST /temper/v1/disruption-budgets', 'lessee-manager', 'lessee-member', {
    body: { max_unavailable: 1 },
  }),
  row('temper:disruption_budget:update', 'PATCH /temper/v1/disruption-budgets/{budget}', 'owner-manager', 'operator', {
    body: { max_unavailable: 2 },
  }),
  row('temper:disruption_budget:delete', 'DELETE /temper/v1/disruption-budgets/{budget}', 'operator', 'owner-member'),
  row('temper:window:get', 'GET /temper/v1/windows/{window}', 'owner-reader', 'lessee-admin', { hidden: true }),
  row('temper:window:create', 'POST /temper/v1/windows', 'lessee-manager', 'lessee-member', {
    body: { name: 'w', days: ['sat'], from: '22:00', minutes: 240, zone: 'Europe/Berlin' },
  }),
  row('temper:window:delete', 'DELETE /temper/v1/windows/{window}', 'operator', 'owner-member'),
  row('temper:rollout:get', 'GET /temper/v1/rollouts/{rollout}', 'owner-reader', 'stranger-admin', { hidden: true }),
  row('temper:rollout_target:get', 'GET /temper/v1/rollouts/{rollout}/targets', 'lessee-reader', 'stranger-admin', {
    hidden: true,
  }),
  row('temper:rollout:plan', 'POST /temper/v1/rollouts', 'owner-member', 'owner-reader', {
    body: { verb: 'inspect', select: { nodes: ['{node}'] } },
    node: { provision_state: 'manageable', lessee: null },
  }),
  ...rolloutActs.map(([act, at, body]) =>
    row(`temper:rollout:${act}`, `POST /temper/v1/rollouts/{${at}}/${act}`, 'owner-manager', 'owner-member', {
      body: { ...reason, ...body },
    }),
  ),
  row('temper:rollout:start_alone', 'POST /temper/v1/rollouts/{rollout}/start', 'owner-manager', 'owner-manager', {
    body: { ...reason, ...seenPlan },
    shuts: { 'temper:rollout:start_alone': '!' },
    refused: 409,
  }),
  row('temper:rollout:approve', 'POST /temper/v1/rollouts/{rollout}/approve', 'operator', 'system-member', {
    body: { ...reason, ...seenPlan },
  }),
  row(
    'temper:rollout:answer',
    'POST /temper/v1/rollouts/{asked}/targets/{node}/consent',
    'lessee-manager',
    'owner-admin',
    {
      body: { now: true },
    },
  ),
  row(
    'temper:rollout:skip',
    'POST /temper/v1/rollouts/{asked}/targets/{node}/skip',
    'owner-manager',
    'lessee-manager',
    {
      body: reason,
    },
  ),
  row(
    'temper:rollout:retry',
    'POST /temper/v1/rollouts/{harmed}/targets/{node}/retry',
    'owner-manager',
    'owner-member',
    {
      body: reason,
    },
  ),
  row('temper:rollout:rollback', 'POST /temper/v1/rollouts/{gated}/rollback', 'owner-manager', 'owner-member', {
    body: { ...reason, verb: 'inspect', targets: 'done' },
    node: { provision_state: 'manageable', lessee: null },
  }),
  row('temper:usage:get', 'GET /temper/v1/reports/usage?project=project-lessee', 'lessee-reader', 'owner-admin'),
  row('temper:node:audit:get', 'GET /temper/v1/audit?node={node}', 'lessee-reader', 'lessee-reader', {
    shuts: { 'temper:node:audit:get': '!' },
  }),
  row('temper:acknowledgement:create', 'POST /temper/v1/incidents/acknowledge', 'owner-member', 'lessee-manager', {
    body: { node: '{node}', note: 'x', until: '2100-01-01T00:00:00Z' },
    node: { fault: 'power failure' },
  }),
  row('temper:audit:get', 'GET /temper/v1/audit', 'system-reader', 'owner-admin'),
  row('temper:recovery:get', 'GET /temper/v1/recovery', 'system-reader', 'owner-admin'),
  row('temper:recovery:end', 'POST /temper/v1/recovery', 'operator', 'system-member', { body: {} }),
  row('temper:policy:explain', 'GET /temper/v1/policy/explain?rule=temper:run:get', 'system-reader', 'owner-admin'),
  row('temper:policy:history', 'GET /temper/v1/policy/history', 'system-reader', 'owner-admin'),
];

const sealed = 'constant: the store keeps secrets sealed, and nothing shows them';

/** Rules that the walk leaves out, each with its reason. */
export const leftOut: Readonly<Record<string, string>> = {
  'temper:rollout:override_budget':
    'admits no caller as it comes, and asks each node of a plan; test/api/rollout-words.test.ts asks it',
  'temper:rollout:without_consent':
    'admits to nothing: it changes what a plan says; test/runs/rollouts.test.ts asks it',
  'temper:acknowledgement:get': 'shows a part of an incident; test/api/acknowledgements.test.ts asks it',
  show_password: sealed,
  show_instance_secrets: sealed,
  'baremetal:allocation:create_pre_rbac': 'guards no route: the reference dropped its use as well',
};
