/** Changes of each minor version as data. Tests check both sides of each, and a document is generated from it. */

/** A resource, or a part shown beside a node or driver. */
export type Changing =
  | 'node'
  | 'node states'
  | 'port'
  | 'portgroup'
  | 'allocation'
  | 'runbook'
  | 'driver'
  | 'bios setting'
  | 'firmware component'
  | 'history';

/** `below` is the status for requests of older versions. Older replies omit the fields in any case. */
export type Change =
  /** Older versions also refuse writing, choosing and sorting by it. */
  | { readonly is: 'fields'; readonly of: Changing; readonly names: readonly string[]; readonly below: 400 | 406 }
  | { readonly is: 'filters'; readonly of: Changing; readonly names: readonly string[] }
  | { readonly is: 'verbs'; readonly names: readonly string[] }
  /** `METHOD /path`. */
  | { readonly is: 'routes'; readonly names: readonly string[]; readonly below: 404 | 405 | 406 }
  /** Parts of the discovery document. */
  | { readonly is: 'links'; readonly names: readonly string[] }
  /** A query parameter, a key of the body, or one form of its value. */
  | { readonly is: 'arguments'; readonly of: string; readonly names: readonly string[]; readonly below: 400 | 406 }
  /** A separate test checks it. */
  | { readonly is: 'behaviour'; readonly name: Behaviour }
  /** Older versions behave the same. */
  | { readonly is: 'ungated'; readonly names: readonly string[]; readonly why: string }
  /** Only announces a capability to clients. */
  | { readonly is: 'marker'; readonly why: string };

/** Changes without a list of names. */
export const behaviours = {
  'first version':
    'maintenance can be set and cleared, a deployment takes a configuration drive, vendor methods are called',
  'available is a state': 'older versions show null in its place',
  'nodes by name': 'paths take a name, by which older versions find nothing (404)',
  'names are free': 'letters, digits and - . _ ~ in any order; older versions take host names only (400)',
  'nodes begin in enroll': 'those of older versions begin in available',
  'chassis can be unset': 'chassis_uuid can be removed by a patch (older: 406)',
  'inspect wait is a state': 'older versions show inspecting in its place',
  'what is inspected rests': 'nodes, ports and portgroups cannot be changed meanwhile (409); older versions can',
  'abort of an inspection': 'abort in state inspect wait (older: 406)',
  'lookup hands out a token': 'the config of a lookup has agent_token; older versions get none',
  'kinds of network': 'network_type of local_link_connection: managed or unmanaged (older: 406)',
  'a namesake comes first': 'whatever the version of the request: nodes are given later',
  'children are hidden': 'whatever the version: unless a filter names them',
  'inspection continues':
    'POST /v1/continue_inspection answers what a lookup does; 1.1 gets the UUID alone (between: 404)',
  'ports by name': 'paths take a name where older versions take a UUID only (400)',
  'switch keys come': 'vtep-logical-switch and vtep-physical-switch in local_link_connection (older: 400)',
  'suffix stays': 'older versions leave it away, unless nothing is found so',
  escapes: 'paths of a patch hold no ~ in any version (400)',
  'network of members': 'the physical network of a port in a portgroup changes with that of the portgroup alone (400)',
  'instance name is filled': 'by display_name of instance_info, where the node has none of its own',
  'switch keys go': 'vtep-logical-switch and vtep-physical-switch are unknown (400); those that are stored stay',
  'request id': 'whatever the version: X-OpenStack-Request-Id and OpenStack-Request-Id',
  'abort of a deployment': 'abort in state wait call-back (older: 406)',
  'approval by traits':
    'runbook and node share a trait; for older versions the node has the name of the runbook as a trait (400)',
  'runbook names are free': 'letters, digits and - . _ ~; older versions create them by the name of a trait only (400)',
} as const;

export type Behaviour = keyof typeof behaviours;

export type VersionRow = {
  readonly minor: number;
  /** For "from this version on": "nodes have an owner". */
  readonly says: string;
  readonly changes: readonly Change[];
  /** The reason why Temper does not implement the version's purpose. */
  readonly outOfScope?: string;
};

const fields = (of: Changing, names: string, below: 400 | 406 = 406): Change => ({
  is: 'fields',
  of,
  names: names.split(' '),
  below,
});
const filters = (of: Changing, names: string): Change => ({ is: 'filters', of, names: names.split(' ') });
const newVerbs = (...names: string[]): Change => ({ is: 'verbs', names });
const newLinks = (...names: string[]): Change => ({ is: 'links', names });
const routes = (below: 404 | 405 | 406, ...names: string[]): Change => ({ is: 'routes', names, below });
const takes = (below: 400 | 406, of: string, ...names: string[]): Change => ({ is: 'arguments', of, names, below });
const behaves = (name: Behaviour): Change => ({ is: 'behaviour', name });
const ungated = (why: string, ...names: string[]): Change => ({ is: 'ungated', names, why });
const marker = (why: string): Change => ({ is: 'marker', why });

const node = '/v1/nodes/:node_ident';
const nodePath = '/v1/nodes/:ident';
const provision = `PUT ${node}/states/provision`;
const power = `PUT ${node}/states/power`;
const heartbeat = 'POST /v1/heartbeat/:node_ident';

/** Older versions answer reads with 404, and writes with `written`. */
const collection = (path: string, ident: string, written: 404 | 405): Change[] => [
  routes(404, `GET ${path}`, `GET ${path}/:${ident}`),
  routes(written, `POST ${path}`, `PATCH ${path}/:${ident}`, `DELETE ${path}/:${ident}`),
];

const offers = (names: string): string =>
  names
    .split(' ')
    .map((name) => `default_${name}_interface enabled_${name}_interfaces`)
    .join(' ');

const firstInterfaces = 'boot console deploy inspect management power raid vendor';
const interfacesOfNodes = (names: string): string =>
  names
    .split(' ')
    .map((name) => `${name}_interface`)
    .join(' ');

const notEnforced = 'the original never asked for the version';

type ChangeRow = readonly [minor: number, says: string, changes: readonly Change[], outOfScope?: string];

// Source of versions: openstack/ironic:doc/source/contributor/webapi-version-history.rst, ironic/api/controllers/v1/versions.py.
const changeRows: readonly ChangeRow[] = [
  [1, 'a request without a version is served as this one', [behaves('first version')]],
  [2, 'a node that can be handed out is in state available', [behaves('available is a state')]],
  [3, 'nodes show driver_internal_info', [fields('node', 'driver_internal_info')]],
  [4, 'nodes can be managed and provided', [newVerbs('manage', 'provide')]],
  [5, 'nodes have names and are found by them', [fields('node', 'name'), behaves('nodes by name')]],
  [
    6,
    'nodes can be inspected and say when they were',
    [newVerbs('inspect'), fields('node', 'inspection_started_at inspection_finished_at')],
  ],
  [7, 'nodes show the step of a cleaning', [fields('node', 'clean_step')]],
  [
    8,
    'callers choose the fields of what they are shown',
    [
      takes(406, 'GET /v1/nodes', 'fields'),
      takes(406, `GET ${node}`, 'fields'),
      takes(406, 'GET /v1/ports', 'fields'),
      takes(406, 'GET /v1/ports/:port_ident', 'fields'),
      takes(406, 'GET /v1/chassis', 'fields'),
      takes(406, 'GET /v1/chassis/:ident', 'fields'),
    ],
  ],
  [9, 'nodes can be listed by provision state', [filters('node', 'provision_state')]],
  [10, 'names of nodes need not be host names', [behaves('names are free')]],
  [11, 'new nodes begin in enroll', [behaves('nodes begin in enroll')]],
  [
    12,
    'nodes have a RAID configuration',
    [
      fields('node', 'raid_config target_raid_config'),
      fields('node states', 'raid_config target_raid_config'),
      routes(406, `PUT ${node}/states/raid`, 'GET /v1/drivers/:driver_name/raid/logical_disk_properties'),
    ],
  ],
  [13, 'a cleaning that waits can be aborted', [newVerbs('abort')]],
  [
    14,
    'nodes link to their states and drivers to their properties',
    [fields('node', 'states'), fields('driver', 'properties')],
  ],
  [15, 'nodes can be cleaned by hand', [newVerbs('clean')]],
  [16, 'nodes can be listed by driver', [filters('node', 'driver')]],
  [17, 'nodes that run already can be adopted', [newVerbs('adopt')]],
  [18, 'ports show internal_info', [fields('port', 'internal_info')]],
  [
    19,
    'ports say where they are plugged in and whether they boot',
    [fields('port', 'local_link_connection pxe_enabled')],
  ],
  [20, 'nodes have a network interface', [fields('node', 'network_interface')]],
  [21, 'nodes have a resource class', [fields('node', 'resource_class'), filters('node', 'resource_class')]],
  [
    22,
    'ramdisks can look themselves up and report',
    [routes(404, 'GET /v1/lookup', heartbeat), newLinks('lookup', 'heartbeat')],
  ],
  [
    23,
    'there are portgroups',
    [...collection('/v1/portgroups', 'ident', 404), routes(404, 'GET /v1/portgroups/detail'), newLinks('portgroups')],
  ],
  [
    24,
    'portgroups are listed by node, and ports by portgroup',
    [
      routes(404, `GET ${nodePath}/portgroups`, `GET ${nodePath}/portgroups/detail`),
      routes(404, 'GET /v1/portgroups/:ident/ports', 'GET /v1/portgroups/:ident/ports/detail'),
      fields('port', 'portgroup_uuid'),
      filters('port', 'portgroup'),
      fields('node', 'portgroups'),
      fields('portgroup', 'ports'),
    ],
  ],
  [25, 'a node can be taken out of its chassis', [behaves('chassis can be unset')]],
  [26, 'portgroups have a mode and properties', [fields('portgroup', 'mode properties')]],
  [
    27,
    'power can be switched softly, in a given time',
    [takes(406, power, 'soft power off', 'soft rebooting', 'timeout')],
  ],
  [
    28,
    'networks can be attached to nodes',
    [routes(404, `GET ${node}/vifs`, `POST ${node}/vifs`, `DELETE ${node}/vifs/:vif`)],
  ],
  [29, 'nodes can be interrupted', [routes(404, `PUT ${node}/management/inject_nmi`)]],
  [
    30,
    'drivers say which interfaces they offer',
    [fields('driver', `type ${offers(`${firstInterfaces} network`)}`), takes(406, 'GET /v1/drivers', 'type', 'detail')],
  ],
  [31, 'nodes choose the interfaces of their driver', [fields('node', interfacesOfNodes(firstInterfaces))]],
  [
    32,
    'there are volumes',
    [
      routes(404, 'GET /v1/volume', `GET ${node}/volume`),
      routes(404, `GET ${nodePath}/volume/connectors`, `GET ${nodePath}/volume/targets`),
      ...collection('/v1/volume/connectors', 'ident', 404),
      ...collection('/v1/volume/targets', 'ident', 404),
      fields('node', 'volume'),
      newLinks('volume'),
    ],
  ],
  [33, 'nodes have a storage interface', [fields('node', 'storage_interface'), fields('driver', offers('storage'))]],
  [34, 'ports have a physical network', [fields('port', 'physical_network')]],
  [35, 'a rebuild takes a configuration drive', [takes(400, provision, 'configdrive of a rebuild')]],
  [36, 'ramdisks say their version', [takes(400, heartbeat, 'agent_version')]],
  [
    37,
    'nodes have traits',
    [
      fields('node', 'traits'),
      routes(406, `GET ${node}/traits`),
      routes(405, `PUT ${node}/traits`, `PUT ${node}/traits/:trait`),
      routes(404, `DELETE ${node}/traits`, `DELETE ${node}/traits/:trait`),
    ],
  ],
  [
    38,
    'nodes can be rescued',
    [newVerbs('rescue', 'unrescue'), fields('node', 'rescue_interface'), fields('driver', offers('rescue'))],
  ],
  [
    39,
    'inspect wait is a state of its own, and what is inspected is not changed',
    [behaves('inspect wait is a state'), behaves('what is inspected rests')],
  ],
  [
    40,
    'nodes show their BIOS settings',
    [
      routes(404, `GET ${node}/bios`, `GET ${node}/bios/:setting`),
      fields('node', 'bios_interface'),
      fields('driver', offers('bios')),
    ],
  ],
  [41, 'an inspection that waits can be aborted', [behaves('abort of an inspection')]],
  [42, 'nodes say what fault keeps them in maintenance', [fields('node', 'fault'), filters('node', 'fault')]],
  [
    43,
    'lists take detail',
    ['nodes', 'ports', 'portgroups', 'chassis'].map((name) => takes(400, `GET /v1/${name}`, 'detail')),
  ],
  [44, 'nodes show the step of a deployment', [fields('node', 'deploy_step')]],
  [45, 'a change of driver can reset the interfaces', [takes(406, `PATCH ${node}`, 'reset_interfaces')]],
  [46, 'nodes belong to a group of workers', [fields('node', 'conductor_group'), filters('node', 'conductor_group')]],
  [47, 'nodes can have automated cleaning of their own', [fields('node', 'automated_clean')]],
  [48, 'nodes can be protected', [fields('node', 'protected protected_reason')]],
  [
    49,
    'workers are shown as conductors',
    [
      routes(404, 'GET /v1/conductors', 'GET /v1/conductors/:hostname'),
      newLinks('conductors'),
      fields('node', 'conductor'),
      filters('node', 'conductor'),
    ],
  ],
  [50, 'nodes have an owner', [fields('node', 'owner'), filters('node', 'owner')]],
  [
    51,
    'nodes have a description',
    [fields('node', 'description'), ungated(notEnforced, 'GET /v1/nodes?description_contains=')],
  ],
  [
    52,
    'there are allocations',
    [
      routes(404, 'GET /v1/allocations', 'GET /v1/allocations/:allocation_ident'),
      routes(405, 'POST /v1/allocations', 'DELETE /v1/allocations/:allocation_ident'),
      routes(404, `GET ${node}/allocation`, `DELETE ${node}/allocation`),
      fields('node', 'allocation_uuid'),
      newLinks('allocations'),
    ],
  ],
  [53, 'ports can be smart NICs', [fields('port', 'is_smartnic')]],
  [54, 'other services can post events', [routes(404, 'POST /v1/events'), newLinks('events')]],
  [
    55,
    'there are deploy templates',
    [...collection('/v1/deploy_templates', 'ident', 405), newLinks('deploy_templates')],
  ],
  [56, 'a configuration drive can be described', [takes(400, provision, 'configdrive as an object')]],
  [57, 'allocations can be changed', [routes(405, 'PATCH /v1/allocations/:allocation_ident')]],
  [58, 'an allocation can be made for a node in use', [takes(400, 'POST /v1/allocations', 'node')]],
  [59, 'a configuration drive takes vendor data', [takes(400, provision, 'configdrive with vendor_data')]],
  [60, 'allocations have an owner', [fields('allocation', 'owner'), filters('allocation', 'owner')]],
  [
    61,
    'nodes can be retired',
    [fields('node', 'retired retired_reason'), ungated(notEnforced, 'GET /v1/nodes?retired=')],
  ],
  [62, 'ramdisks get a token', [behaves('lookup hands out a token')]],
  [
    63,
    'nodes have indicators',
    [
      ungated(
        notEnforced,
        `GET ${node}/management/indicators`,
        `GET ${node}/management/indicators/:indicator`,
        `PUT ${node}/management/indicators/:indicator`,
      ),
    ],
  ],
  [64, 'ports say whether their network is managed', [behaves('kinds of network')]],
  [65, 'nodes can be leased', [fields('node', 'lessee'), filters('node', 'lessee')]],
  [66, 'nodes carry the network of their ramdisk, for booting without DHCP', [fields('node', 'network_data')]],
  [67, 'a network can be attached to a given port', [takes(406, `POST ${node}/vifs`, 'port_uuid', 'portgroup_uuid')]],
  [68, 'ramdisks show a certificate', [takes(400, heartbeat, 'agent_verify_ca')]],
  [
    69,
    'a deployment takes steps',
    [takes(406, provision, 'deploy_steps of a deployment', 'deploy_steps of a rebuild')],
  ],
  [70, 'a cleaning can do without the ramdisk', [takes(406, provision, 'disable_ramdisk of a cleaning')]],
  [71, 'roles with system scope are understood', [marker('policy decides, whatever the version')]],
  [72, 'ramdisks say how they fare', [takes(400, heartbeat, 'agent_status', 'agent_status_message')]],
  [73, 'active and deleted are also called deploy and undeploy', [newVerbs('deploy', 'undeploy')]],
  [
    74,
    'BIOS settings carry what their registry says',
    [
      fields(
        'bios setting',
        'attribute_type allowable_values lower_bound upper_bound min_length max_length read_only reset_required unique',
        400,
      ),
      takes(400, `GET ${node}/bios`, 'fields', 'detail'),
    ],
  ],
  [
    75,
    'nodes say how they boot',
    [fields('node', 'boot_mode secure_boot'), fields('node states', 'boot_mode secure_boot')],
  ],
  [
    76,
    'how nodes boot can be changed',
    [routes(404, `PUT ${node}/states/boot_mode`, `PUT ${node}/states/secure_boot`)],
  ],
  [
    77,
    'callers choose the fields of drivers',
    [takes(406, 'GET /v1/drivers', 'fields'), takes(406, 'GET /v1/drivers/:driver_name', 'fields')],
  ],
  [78, 'nodes have a history', [routes(404, 'GET /v1/nodes/:node/history', 'GET /v1/nodes/:node/history/:event')]],
  [79, 'an allocation tries the node of its name first', [behaves('a namesake comes first')]],
  [80, 'admins of a project may enrol and delete nodes of their own', [marker('policy decides, whatever the version')]],
  [81, 'nodes show what is built into them', [routes(404, `GET ${node}/inventory`)]],
  [
    82,
    'nodes belong to shards',
    [
      fields('node', 'shard'),
      filters('node', 'shard sharded'),
      filters('port', 'shard'),
      routes(404, 'GET /v1/shards'),
      newLinks('shards'),
    ],
  ],
  [
    83,
    'nodes can be part of another node',
    [
      fields('node', 'parent_node'),
      filters('node', 'include_children parent_node'),
      routes(404, `GET ${node}/children`),
      behaves('children are hidden'),
    ],
  ],
  [
    84,
    'a ramdisk that reports an inspection learns its node',
    [behaves('inspection continues'), newLinks('continue_inspection')],
  ],
  [85, 'what is held can be let go', [newVerbs('unhold')]],
  [
    86,
    'nodes show their firmware',
    [routes(404, `GET ${node}/firmware`), fields('node', 'firmware_interface'), fields('driver', offers('firmware'))],
  ],
  [87, 'active nodes can be serviced', [newVerbs('service'), fields('node', 'service_step')]],
  [88, 'ports have names and are found by them', [fields('port', 'name'), behaves('ports by name')]],
  [89, 'nodes have virtual media', [routes(404, `POST ${node}/vmedia`, `DELETE ${node}/vmedia`)]],
  [
    90,
    'a port can name a logical switch',
    [behaves('switch keys come')],
    'the configuration of a virtual switch: Temper manages no switches, so the keys are taken beside the others and no more',
  ],
  [91, 'a suffix .json belongs to the name', [behaves('suffix stays')]],
  [
    92,
    'there are runbooks',
    [
      ...collection('/v1/runbooks', 'runbook_ident', 405),
      newLinks('runbooks'),
      takes(406, provision, 'runbook of a cleaning', 'runbook of a service'),
    ],
  ],
  [93, 'nodes show their virtual media', [routes(404, `GET ${node}/vmedia`)]],
  [
    94,
    'a port can name its node by name',
    [takes(406, 'POST /v1/ports', 'node_ident'), takes(406, 'PATCH /v1/ports/:port_ident', 'node_ident')],
  ],
  [95, 'nodes can refuse to be switched off', [fields('node', 'disable_power_off')]],
  [
    96,
    'there are inspection rules',
    [...collection('/v1/inspection_rules', 'ident', 405), newLinks('inspection_rules')],
  ],
  [97, 'ports have a description', [fields('port', 'description')]],
  [98, 'escapes in the paths of a patch change nothing', [behaves('escapes')]],
  [
    99,
    'ports and portgroups can be listed by group of workers',
    [ungated(notEnforced, 'GET /v1/ports?conductor_groups=', 'GET /v1/portgroups?conductor_groups=')],
  ],
  [100, 'ports have a vendor', [fields('port', 'vendor')]],
  [101, 'ports have a category', [fields('port', 'category')]],
  [
    102,
    'portgroups have a physical network, and their ports follow it',
    [fields('portgroup', 'physical_network'), behaves('network of members')],
  ],
  [103, 'portgroups have a category', [fields('portgroup', 'category')]],
  [
    104,
    'nodes show the name of their instance',
    [fields('node', 'instance_name'), filters('node', 'instance_name'), behaves('instance name is filled')],
  ],
  [
    105,
    'a port cannot name a logical switch any more',
    [behaves('switch keys go')],
    'the keys are refused again, as unknown ones are',
  ],
  [106, 'portgroups can be listed by shard', [filters('portgroup', 'shard')]],
  [107, 'every answer names its request', [behaves('request id')]],
  [108, 'a service can do without the ramdisk', [takes(406, provision, 'disable_ramdisk of a service')]],
  [109, 'nodes say how healthy they are', [fields('node', 'health')]],
  [110, 'a deployment that waits can be aborted', [behaves('abort of a deployment')]],
  [
    111,
    'ports can be kept out of dynamic portgroups',
    [fields('port', 'available_for_dynamic_portgroup'), fields('portgroup', 'dynamic_portgroup')],
  ],
  [
    112,
    'runbooks are approved by traits and have free names and a description',
    [
      fields('runbook', 'description traits', 400),
      routes(
        404,
        'GET /v1/runbooks/:runbook_ident/traits',
        'PUT /v1/runbooks/:runbook_ident/traits',
        'PUT /v1/runbooks/:runbook_ident/traits/:trait',
        'DELETE /v1/runbooks/:runbook_ident/traits',
        'DELETE /v1/runbooks/:runbook_ident/traits/:trait',
      ),
      behaves('approval by traits'),
      behaves('runbook names are free'),
    ],
  ],
  [113, 'a node’s history names projects', [fields('history', 'project')]],
  [114, 'firmware says whose it is', [fields('firmware component', 'vendor model serial_number', 400)]],
  [
    115,
    'a node’s history has states and durations',
    [fields('history', 'state target_provision_state duration_seconds')],
  ],
];

/** In order, from 1.1. */
export const versionChanges: readonly VersionRow[] = changeRows.map(([minor, says, changes, outOfScope]) => ({
  minor,
  says,
  changes,
  ...(outOfScope !== undefined && { outOfScope }),
}));
