/** Rows as an Ironic database has them, and a source that has these alone: for what Ironic itself would not write. */
import type { Source, SourceRow } from '../../src/import/source';
import { driverRow } from '../../src/model/lifecycle/drivers';

export const uuid = (number: number): string => `11111111-2222-4333-8444-${String(number).padStart(12, '0')}`;

const interfaces = Object.fromEntries(
  Object.keys(driverRow('redfish').interfaces).map((name) => [`${name}_interface`, null]),
);

/** A node at rest, which Ironic leaves alone. */
export const node = (id: number, name: string, more: SourceRow = {}): SourceRow => ({
  id,
  uuid: uuid(id),
  name,
  driver: 'redfish',
  ...interfaces,
  provision_state: 'manageable',
  reservation: null,
  target_power_state: null,
  maintenance: true,
  fault: null,
  conductor_group: '',
  created_at: new Date(1_700_000_000_000),
  updated_at: null,
  ...more,
});

/** What lies below the node of this number. */
export const below = (id: number, node_id: number, more: SourceRow): SourceRow => ({
  id,
  node_id,
  uuid: uuid(id),
  updated_at: null,
  ...more,
});

export const sourceOf = (tables: Readonly<Record<string, readonly SourceRow[]>>): Source => ({
  rows: async (table) => (table === 'alembic_version' ? [{ version_num: '9fb44677ef15' }] : (tables[table] ?? [])),
  count: async () => 0,
  close: async () => undefined,
});
