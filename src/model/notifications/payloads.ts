/** Payloads of Ironic's versioned notifications. openstack/ironic:ironic/objects, release 39.0. */

type PayloadRow = {
  /** Class and version, by which listeners know the form. */
  readonly name: string;
  readonly version: string;
  /** Columns of the resource's row. */
  readonly fields: readonly string[];
  /** Documents that Ironic masks. */
  readonly masked?: readonly string[];
  /** Documents that Ironic does not publish. */
  readonly redacted?: readonly string[];
  /** Fields that are no columns: facts of the change. */
  readonly facts?: readonly string[];
};

const times = ['created_at', 'updated_at'] as const;

const nodeFields = [
  ...times,
  'bios_interface',
  'boot_interface',
  'boot_mode',
  'clean_step',
  'conductor_group',
  'console_enabled',
  'console_interface',
  'deploy_interface',
  'deploy_step',
  'description',
  'disable_power_off',
  'driver',
  'extra',
  'fault',
  'inspect_interface',
  'inspection_finished_at',
  'inspection_started_at',
  'instance_uuid',
  'last_error',
  'lessee',
  'maintenance',
  'maintenance_reason',
  'management_interface',
  'name',
  'network_interface',
  'owner',
  'power_interface',
  'power_state',
  'properties',
  'protected',
  'protected_reason',
  'provision_state',
  'provision_updated_at',
  'raid_interface',
  'rescue_interface',
  'resource_class',
  'retired',
  'retired_reason',
  'secure_boot',
  'storage_interface',
  'target_power_state',
  'target_provision_state',
  'traits',
  'uuid',
  'vendor_interface',
] as const;

const payloads = {
  node: { name: 'NodePayload', version: '1.17', fields: nodeFields },
  nodeChange: {
    name: 'NodeCRUDPayload',
    version: '1.15',
    fields: [...nodeFields, 'chassis_uuid', 'driver_info', 'instance_info'],
    masked: ['driver_info', 'instance_info'],
  },
  nodePower: { name: 'NodeSetPowerStatePayload', version: '1.17', fields: nodeFields, facts: ['to_power'] },
  nodePowerCorrected: {
    name: 'NodeCorrectedPowerStatePayload',
    version: '1.17',
    fields: nodeFields,
    facts: ['from_power'],
  },
  nodeProvision: {
    name: 'NodeSetProvisionStatePayload',
    version: '1.18',
    fields: [...nodeFields, 'driver_internal_info', 'instance_info'],
    masked: ['driver_internal_info', 'instance_info'],
    facts: ['event', 'previous_provision_state', 'previous_target_provision_state'],
  },
  port: {
    name: 'PortCRUDPayload',
    version: '1.8',
    fields: [
      ...times,
      'address',
      'available_for_dynamic_portgroup',
      'category',
      'description',
      'extra',
      'is_smartnic',
      'local_link_connection',
      'name',
      'node_uuid',
      'physical_network',
      'portgroup_uuid',
      'pxe_enabled',
      'uuid',
      'vendor',
    ],
  },
  portgroup: {
    name: 'PortgroupCRUDPayload',
    version: '1.3',
    fields: [
      ...times,
      'address',
      'category',
      'dynamic_portgroup',
      'extra',
      'mode',
      'name',
      'node_uuid',
      'physical_network',
      'properties',
      'standalone_ports_supported',
      'uuid',
    ],
  },
  chassis: { name: 'ChassisCRUDPayload', version: '1.0', fields: [...times, 'description', 'extra', 'uuid'] },
  allocation: {
    name: 'AllocationCRUDPayload',
    version: '1.1',
    fields: [
      ...times,
      'candidate_nodes',
      'extra',
      'last_error',
      'name',
      'node_uuid',
      'owner',
      'resource_class',
      'state',
      'traits',
      'uuid',
    ],
  },
  volumeConnector: {
    name: 'VolumeConnectorCRUDPayload',
    version: '1.0',
    fields: [...times, 'connector_id', 'extra', 'node_uuid', 'type', 'uuid'],
  },
  volumeTarget: {
    name: 'VolumeTargetCRUDPayload',
    version: '1.0',
    fields: [...times, 'boot_index', 'extra', 'node_uuid', 'properties', 'uuid', 'volume_id', 'volume_type'],
    redacted: ['properties'],
  },
  deployTemplate: {
    name: 'DeployTemplateCRUDPayload',
    version: '1.0',
    fields: [...times, 'extra', 'name', 'steps', 'uuid'],
  },
} as const satisfies Readonly<Record<string, PayloadRow>>;

export type PayloadKind = keyof typeof payloads;

/** Has all optional columns in its type. */
export const payloadRow = (kind: PayloadKind): PayloadRow => payloads[kind];
