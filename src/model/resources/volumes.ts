/** Volumes: how a node reaches them (connectors) and which they are (targets), as the wire shows them. */
import { extraField, recordFields, uuidField } from './common-fields';
import type { FieldRow, ResourceTable } from './fields';
import type { NodeResourceRow } from './node-resources';

const updateRule = 'baremetal:volume:update';

/** Minor version from which the wire knows volumes. */
export const volumesSince = 32;

/** Who sees the properties of a target, with its secrets masked; others see that there are some. */
export const viewProperties = 'baremetal:volume:view_target_properties';

const before: readonly FieldRow[] = [
  uuidField,
  { name: 'node_uuid', type: 'uuid', inList: true, create: 'required', patch: updateRule },
];

const after: readonly FieldRow[] = [extraField(updateRule), ...recordFields()];

const text = (name: string, max: number): FieldRow => ({
  name,
  type: 'text',
  inList: true,
  create: 'required',
  patch: updateRule,
  min: 1,
  max,
});

// Source of rows: openstack/ironic:ironic/api/controllers/v1/volume_connector.py, volume_target.py.
export const connectorTable: ResourceTable = {
  resource: 'volume connector',
  collection: 'connectors',
  fields: [...before, text('type', 32), text('connector_id', 255), ...after],
  filters: [{ name: 'node', type: 'text' }],
};

export const targetTable: ResourceTable = {
  resource: 'volume target',
  collection: 'targets',
  fields: [
    ...before,
    text('volume_type', 64),
    text('volume_id', 36),
    {
      name: 'boot_index',
      type: 'integer',
      inList: true,
      create: 'required',
      patch: updateRule,
      min: 0,
      max: 2_147_483_647,
    },
    {
      name: 'properties',
      type: 'object',
      nullable: true,
      create: 'optional',
      patch: updateRule,
      secret: true,
      redact: {
        rule: viewProperties,
        // Word for word as openstack/ironic:ironic/api/controllers/v1/volume_target.py has it.
        shown: {
          redacted_contents: `** Value redacted: Requires permission ${viewProperties} access. Permission denied. **`,
        },
      },
    },
    ...after,
  ],
  filters: [{ name: 'node', type: 'text' }],
};

export type VolumeConnector = NodeResourceRow & { readonly type: string; readonly connector_id: string };

/** A target as the store holds it; secrets in `properties` are references. */
export type VolumeTarget = NodeResourceRow & {
  readonly volume_type: string;
  readonly volume_id: string;
  readonly boot_index: number;
  readonly properties: Readonly<Record<string, unknown>>;
};
