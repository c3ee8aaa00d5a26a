/** What the wire promises of each resource, as clients decode it: every field with its type and the version that it came with. */

/**
 * Types: `text`, `uuid`, `flag`, `int`, `time` (RFC 3339 in UTC), `object`, `texts`, `objects`, `links`, `nested` (a list of lists
 * of links); with `?` where null may stand instead.
 */
export type Shape = Readonly<Record<string, readonly [type: string, since?: number]>>;

const common = {
  uuid: ['uuid'],
  extra: ['object'],
  links: ['links'],
  created_at: ['time'],
  updated_at: ['time?'],
} as const;

const interfaces = (names: string, since: number) =>
  Object.fromEntries(names.split(' ').map((name) => [`${name}_interface`, ['text?', since] as const]));

const node: Shape = {
  ...common,
  name: ['text?', 5],
  ports: ['links'],
  states: ['links', 14],
  portgroups: ['links', 24],
  volume: ['links', 32],
  chassis_uuid: ['uuid?'],
  driver: ['text'],
  driver_info: ['object'],
  driver_internal_info: ['object', 3],
  properties: ['object'],
  instance_uuid: ['uuid?'],
  instance_info: ['object'],
  instance_name: ['text?', 104],
  power_state: ['text?'],
  target_power_state: ['text?'],
  provision_state: ['text?'],
  target_provision_state: ['text?'],
  provision_updated_at: ['time?'],
  maintenance: ['flag'],
  maintenance_reason: ['text?'],
  reservation: ['text?'],
  last_error: ['text?'],
  console_enabled: ['flag'],
  inspection_started_at: ['time?', 6],
  inspection_finished_at: ['time?', 6],
  clean_step: ['object', 7],
  raid_config: ['object', 12],
  target_raid_config: ['object', 12],
  ...interfaces('network', 20),
  resource_class: ['text?', 21],
  ...interfaces('boot console deploy inspect management power raid vendor', 31),
  ...interfaces('storage', 33),
  traits: ['texts', 37],
  ...interfaces('rescue', 38),
  ...interfaces('bios', 40),
  fault: ['text?', 42],
  deploy_step: ['object', 44],
  conductor_group: ['text', 46],
  automated_clean: ['flag?', 47],
  protected: ['flag', 48],
  protected_reason: ['text?', 48],
  conductor: ['text?', 49],
  owner: ['text?', 50],
  description: ['text?', 51],
  allocation_uuid: ['uuid?', 52],
  retired: ['flag', 61],
  retired_reason: ['text?', 61],
  lessee: ['text?', 65],
  network_data: ['object', 66],
  boot_mode: ['text?', 75],
  secure_boot: ['flag?', 75],
  shard: ['text?', 82],
  parent_node: ['uuid?', 83],
  ...interfaces('firmware', 86),
  service_step: ['object', 87],
  disable_power_off: ['flag', 95],
  health: ['text?', 109],
};

const port: Shape = {
  ...common,
  address: ['text'],
  node_uuid: ['uuid'],
  internal_info: ['object', 18],
  local_link_connection: ['object', 19],
  pxe_enabled: ['flag', 19],
  portgroup_uuid: ['uuid?', 24],
  physical_network: ['text?', 34],
  is_smartnic: ['flag', 53],
  name: ['text?', 88],
  description: ['text?', 97],
  vendor: ['text?', 100],
  category: ['text?', 101],
  available_for_dynamic_portgroup: ['flag', 111],
};

const portgroup: Shape = {
  ...common,
  name: ['text?'],
  node_uuid: ['uuid'],
  address: ['text?'],
  internal_info: ['object'],
  standalone_ports_supported: ['flag'],
  ports: ['links', 24],
  mode: ['text?', 26],
  properties: ['object', 26],
  physical_network: ['text?', 102],
  category: ['text?', 103],
  dynamic_portgroup: ['flag', 111],
};

const connector: Shape = { ...common, node_uuid: ['uuid'], type: ['text'], connector_id: ['text'] };

const target: Shape = {
  ...common,
  node_uuid: ['uuid'],
  volume_type: ['text'],
  volume_id: ['text'],
  boot_index: ['int'],
  properties: ['object'],
};

const chassis: Shape = { ...common, description: ['text?'], nodes: ['nested'] };

const allocation: Shape = {
  ...common,
  name: ['text?'],
  resource_class: ['text?'],
  traits: ['texts'],
  candidate_nodes: ['texts'],
  state: ['text'],
  last_error: ['text?'],
  node_uuid: ['uuid?'],
  owner: ['text?', 60],
};

const template: Shape = { ...common, name: ['text'], steps: ['objects'] };

const runbook: Shape = {
  ...common,
  name: ['text'],
  steps: ['objects'],
  disable_ramdisk: ['flag'],
  public: ['flag'],
  owner: ['text?'],
  description: ['text?', 112],
  traits: ['texts', 112],
};

const { extra: _none, ...withoutExtra } = common;
const rule: Shape = {
  ...withoutExtra,
  description: ['text?'],
  phase: ['text?'],
  priority: ['int'],
  sensitive: ['flag'],
  actions: ['objects'],
  conditions: ['objects'],
};

const conductor: Shape = {
  hostname: ['text'],
  conductor_group: ['text'],
  alive: ['flag'],
  drivers: ['texts'],
  links: ['links'],
  created_at: ['time'],
  updated_at: ['time?'],
};

const driverInterface = (name: string, since: number): Shape => ({
  [`default_${name}_interface`]: ['text?', since],
  [`enabled_${name}_interfaces`]: ['texts', since],
});

const driver: Shape = {
  name: ['text'],
  hosts: ['texts'],
  links: ['links'],
  properties: ['links', 14],
  type: ['text', 30],
  ...Object.assign(
    {},
    ...'boot console deploy inspect management network power raid vendor'
      .split(' ')
      .map((one) => driverInterface(one, 30)),
  ),
  ...driverInterface('storage', 33),
  ...driverInterface('rescue', 38),
  ...driverInterface('bios', 40),
  ...driverInterface('firmware', 86),
};

const states: Shape = {
  console_enabled: ['flag'],
  last_error: ['text?'],
  power_state: ['text?'],
  provision_state: ['text?'],
  target_power_state: ['text?'],
  target_provision_state: ['text?'],
  provision_updated_at: ['time?'],
  raid_config: ['object', 12],
  target_raid_config: ['object', 12],
  boot_mode: ['text?', 75],
  secure_boot: ['flag?', 75],
};

type Listed = {
  readonly shape: Shape;
  /** Version that the resource came with. */
  readonly since: number;
  /** Its list, or undefined for what is only shown. */
  readonly path: string;
  readonly key?: string;
  /** What a list shows without `detail` and `fields`, beside links. */
  readonly brief?: string;
};

// Source: the published contract of version 1.115, openstack/ironic:api-ref/source and ironic/api/controllers/v1.
export const wireShapes = {
  node: {
    shape: node,
    since: 1,
    path: '/v1/nodes',
    key: 'nodes',
    brief: 'instance_uuid maintenance power_state provision_state uuid name',
  },
  port: { shape: port, since: 1, path: '/v1/ports', key: 'ports', brief: 'uuid address' },
  portgroup: { shape: portgroup, since: 23, path: '/v1/portgroups', key: 'portgroups', brief: 'uuid address name' },
  connector: {
    shape: connector,
    since: 32,
    path: '/v1/volume/connectors',
    key: 'connectors',
    brief: 'uuid node_uuid type connector_id',
  },
  target: {
    shape: target,
    since: 32,
    path: '/v1/volume/targets',
    key: 'targets',
    brief: 'uuid node_uuid volume_type boot_index volume_id',
  },
  chassis: { shape: chassis, since: 1, path: '/v1/chassis', key: 'chassis', brief: 'uuid description' },
  allocation: { shape: allocation, since: 52, path: '/v1/allocations', key: 'allocations' },
  template: { shape: template, since: 55, path: '/v1/deploy_templates', key: 'deploy_templates', brief: 'uuid name' },
  runbook: { shape: runbook, since: 92, path: '/v1/runbooks', key: 'runbooks', brief: 'uuid name' },
  rule: {
    shape: rule,
    since: 96,
    path: '/v1/inspection_rules',
    key: 'inspection_rules',
    brief: 'uuid priority phase description',
  },
  conductor: {
    shape: conductor,
    since: 49,
    path: '/v1/conductors',
    key: 'conductors',
    brief: 'hostname conductor_group alive',
  },
  driver: { shape: driver, since: 1, path: '/v1/drivers', key: 'drivers' },
  states: { shape: states, since: 1, path: '/v1/nodes/{node}/states' },
} as const satisfies Record<string, Listed>;

/** Names that a version shows. */
export const namesAt = (shape: Shape, minor: number): string[] =>
  Object.keys(shape).filter((name) => (shape[name]![1] ?? 1) <= minor);

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const every = (is: (one: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(is);
const isLink = (value: unknown): boolean => {
  const { href, rel, ...rest } = (isObject(value) ? value : {}) as Record<string, unknown>;
  return /^https?:\/\//.test(String(href)) && typeof rel === 'string' && Object.keys(rest).length === 0;
};

const checks: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  uuid: (value) => uuid.test(String(value)),
  flag: (value) => typeof value === 'boolean',
  int: (value) => Number.isInteger(value),
  time: (value) => time.test(String(value)),
  object: isObject,
  texts: every((one) => typeof one === 'string'),
  objects: every(isObject),
  links: (value) => every(isLink)(value) && (value as unknown[]).length > 0,
  nested: every((one) => every(isLink)(one)),
};

/** Whether a value is of a type of the table. */
export const fits = (type: string, value: unknown): boolean =>
  (type.endsWith('?') && value === null) || checks[type.replace('?', '')]!(value);
