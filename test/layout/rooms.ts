/** Which room may import which: read by the layout's test and compared with CONTRIBUTING.md. */

/** Every room but the two that put them together. */
const rooms = [
  'model',
  'policy',
  'wire',
  'identity',
  'inventory',
  'bmc',
  'boot',
  'import',
  'notifications',
  'observe',
  'workflows',
  'runs',
  'admission',
  'rollouts',
  'activities',
  'api',
  'cli',
  'console',
] as const;

/** What each room may import. `workflows/contract` is one file, the only door into that room. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  model: [],
  policy: ['model'],
  wire: ['model'],
  identity: ['model'],
  inventory: ['model'],
  bmc: ['model'],
  boot: ['model', 'inventory'],
  import: ['model', 'inventory'],
  notifications: ['model', 'inventory'],
  observe: ['model'],
  workflows: ['model'],
  runs: ['model', 'inventory', 'workflows/contract'],
  admission: ['model', 'policy', 'inventory', 'runs'],
  rollouts: ['model', 'policy', 'inventory', 'runs', 'admission'],
  activities: ['model', 'inventory', 'bmc', 'runs', 'rollouts'],
  api: ['model', 'policy', 'wire', 'identity', 'inventory', 'runs', 'admission', 'rollouts'],
  cli: ['model', 'policy', 'wire'],
  console: ['model', 'wire'],
  process: rooms,
  bin: [...rooms, 'process'],
};

/** Rooms that see these rooms as types only: a value would drag a whole worker into the workflow bundle. */
export const typesOnly: Readonly<Record<string, readonly string[]>> = { workflows: ['activities'] };
