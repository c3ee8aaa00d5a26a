/** Properties and fields by which nodes are counted, with their columns. */

export const summarizedColumns = {
  'properties.rack': 'rack',
  'properties.power_feed': 'power_feed',
  resource_class: 'resource_class',
  owner: 'owner',
  lessee: 'lessee',
  driver: 'driver',
  conductor_group: 'conductor_group',
} as const;

export type Summarized = keyof typeof summarizedColumns;
export const summarized = Object.keys(summarizedColumns) as readonly Summarized[];
