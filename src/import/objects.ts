/** What an import takes: objects as Temper stores them, each under the kind of thing it is. */
import type { Stored } from '../inventory/resources';
import { allocationTable } from '../model/resources/allocations';
import { chassisTable } from '../model/resources/chassis';
import { templateTable } from '../model/resources/deploy-templates';
import { nodeTable } from '../model/resources/nodes';
import { portgroupTable } from '../model/resources/portgroups';
import { portTable } from '../model/resources/ports';
import { runbookTable } from '../model/resources/runbooks';
import { connectorTable, targetTable } from '../model/resources/volumes';

/** Kinds in the order in which one node's are stored, with their tables in the store and on the wire. */
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

/** One object of the source, its values by the columns of Temper. Secrets are still in it. */
export type Taken = {
  readonly kind: Kind;
  readonly uuid: string;
  readonly name: string | null;
  readonly values: Readonly<Record<string, unknown>>;
};

/** What is stored together or not at all: an object, and what cannot be without it. `first` may be there already. */
export type Group = { readonly first: readonly Taken[]; readonly main: Taken; readonly below: readonly Taken[] };

/** A line for the operator: what was not taken as it is, and why. */
export type Remark = {
  readonly kind: Kind;
  readonly uuid: string | null;
  readonly name: string | null;
  /** `refused`: nothing of it is taken. `changed`: taken, but for this. `warning`: taken as it is, and may not work. */
  readonly is: 'refused' | 'changed' | 'warning';
  readonly reason: string;
};
