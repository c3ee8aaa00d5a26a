/** Volumes: a node's access to them (connectors) and the volumes (targets). */
import { extraField, recordFields, uuidField } from './common-fields';
import type { FieldRow, ResourceTable } from './fields';
import type { NodeResourceRow } from './node-resources';

const updateVolume = 'baremetal:volume:update';

export const volumesSince = 32;

/** The rule for a target's properties, with secrets masked. Without it a caller sees only that they exist. */
export const viewProperties = 'baremetal:volume:view_target_properties';

const firstFields: readonly FieldRow[] = [
  uuidField,
  { name: 'node_uuid', type: 'uuid', inList: true, create: 'required', patch: updateVolume },
];

const lastFields: readonly FieldRow[] = [extraField(updateVolume), ...recordFields()];

const requiredText = (name: string, max: number): FieldRow => ({
  name,
  type: 'text',
  inList: true,
  create: 'required',
  patch: updateVolume,
  min: 1,
  max,
});

// Source of rows: openstack/ironic:ironic/api/controllers/v1/volume_connector.py, volume_target.py.
export const connectorTable: ResourceTable = {
  resource: 'volume connector',
  collection: 'connectors',
  fields: [...firstFields, requiredText('type', 32), requiredText('connector_id', 255), ...lastFields],
  filters: [{ name: 'node', type: 'text' }],
};

export const targetTable: ResourceTable = {
  resource: 'volume target',
  collection: 'targets',
  fields: [
    ...firstFields,
    requiredText('volume_type', 64),
    requiredText('volume_id', 36),
    {
      name: 'boot_index',
      type: 'integer',
      inList: true,
      create: 'required',
      patch: updateVolume,
      min: 0,
      max: 2_147_483_647,
    },
    {
      name: 'properties',
      type: 'object',
      nullable: true,
      create: 'optional',
      patch: updateVolume,
      secret: true,
      redact: {
        rule: viewProperties,
        // Verbatim from openstack/ironic:ironic/api/controllers/v1/volume_target.py.
        shown: {
          redacted_contents: `** Value redacted: Requires permission ${viewProperties} access. Permission denied. **`,
        },
      },
    },
    ...lastFields,
  ],
  filters: [{ name: 'node', type: 'text' }],
};

export type VolumeConnector = NodeResourceRow & { readonly type: string; readonly connector_id: string };

/** Secrets in `properties` are references. */
export type VolumeTarget = NodeResourceRow & {
  readonly volume_type: string;
  readonly volume_id: string;
  readonly boot_index: number;
  readonly properties: Readonly<Record<string, unknown>>;
};
