/** Objects of an import by kind, in Temper's columns. */
import type { Stored } from '../inventory/resources';
import { allocationTable } from '../model/resources/allocations';
import { chassisTable } from '../model/resources/chassis';
import { templateTable } from '../model/resources/deploy-templates';
import { nodeTable } from '../model/resources/nodes';
import { portgroupTable } from '../model/resources/portgroups';
import { portTable } from '../model/resources/ports';
import { runbookTable } from '../model/resources/runbooks';
import { connectorTable, targetTable } from '../model/resources/volumes';

/** Kinds in the order of storage. */
export const kinds = {
  chassis: { name: 'chassis', table: chassisTable },
  node: { name: 'nodes', table: nodeTable },
  portgroup: { name: 'portgroups', table: portgroupTable },
  port: { name: 'ports', table: portTable },
  'volume connector': { name: 'volume_connectors', table: connectorTable },
  'volume target': { name: 'volume_targets', table: targetTable },
  allocation: { name: 'allocations', table: allocationTable },
  runbook: { name: 'runbooks', table: runbookTable },
  'deploy template': { name: 'deploy_templates', table: templateTable },
} as const satisfies Record<string, Stored>;

export type Kind = keyof typeof kinds;

/** An object of the source in Temper's columns. It still holds its secrets. */
export type Taken = {
  readonly kind: Kind;
  readonly uuid: string;
  readonly name: string | null;
  readonly values: Readonly<Record<string, unknown>>;
};

/** Stored together or not at all: an object and its dependents. `first` may exist already. */
export type Group = { readonly first: readonly Taken[]; readonly main: Taken; readonly below: readonly Taken[] };

export type Remark = {
  readonly kind: Kind;
  readonly uuid: string | null;
  readonly name: string | null;
  /** `refused`: not imported. `changed`: imported with this change. `warning`: imported, but may not work. */
  readonly is: 'refused' | 'changed' | 'warning';
  readonly reason: string;
};
