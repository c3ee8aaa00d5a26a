/** What an import takes: objects as Temper stores them, each under the kind of thing it is. */

/** Kinds in the order in which one node's are stored, with their tables and the columns that are documents. */
export const kinds = {
  chassis: { table: 'chassis', documents: ['extra'] },
  node: {
    table: 'nodes',
    documents: [
      'driver_info',
      'driver_internal_info',
      'properties',
      'extra',
      'instance_info',
      'network_data',
      'raid_config',
      'target_raid_config',
    ],
  },
  portgroup: { table: 'portgroups', documents: ['extra', 'internal_info', 'properties'] },
  port: { table: 'ports', documents: ['extra', 'internal_info', 'local_link_connection'] },
  'volume connector': { table: 'volume_connectors', documents: ['extra'] },
  'volume target': { table: 'volume_targets', documents: ['extra', 'properties'] },
  allocation: { table: 'allocations', documents: ['extra'] },
  runbook: { table: 'runbooks', documents: ['steps', 'extra'] },
  'deploy template': { table: 'deploy_templates', documents: ['steps', 'extra'] },
} as const satisfies Record<string, { readonly table: string; readonly documents: readonly string[] }>;

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
