/** Worst requests: one of each route of the API's description, made of its schemas, and by hand those that a schema does not tell. */
import { bodyLimit } from '../src/api/body/body';
import { forms, type Known, type Parameter, type Schema, worstBody, worstQueries } from './worst-bodies';
import { pathIn, type World } from './worst-world';

export type Case = {
  readonly route: string;
  /** How its request is made: a form of the schema, or what is in it. */
  readonly way: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
};

type Operation = {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly 'x-body-limit'?: number;
};
type Description = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

/** What the schemas leave to code, for every route. */
const always: Known = {
  ...Object.fromEntries(
    [
      ...['uuid', 'chassis_uuid', 'instance_uuid', 'parent_node', 'portgroup_uuid', 'node_ident', 'candidate_nodes'],
      ...['owner', 'lessee', 'conductor_group', 'shard', 'network_data', 'node', 'baseline', 'port_uuid'],
      ...[
        'local_link_connection',
        'retired_reason',
        'protected_reason',
        'clean_steps',
        'deploy_steps',
        'service_steps',
      ],
    ].map((name) => [name, undefined]),
  ),
  name: 'CUSTOM_%id%',
  driver: 'fake-hardware',
  address: '%mac%',
  mac_address: '52:54:02:00:00:1#',
  path: `/extra/${'k'.repeat(400)}#`,
  op: 'add',
  traits: Array.from({ length: 50 }, (_, at) => `CUSTOM_${'X'.repeat(200)}${at}`),
  image_download_source: 'http',
  protected: false,
  retired: false,
  kinds: ['run.*'],
  zone: 'Europe/Berlin',
  days: ['sat'],
  boot_device: 'pxe',
  state: 'on',
};

const power = { interface: 'power', step: 'reboot', args: {} };
const long = 'x'.repeat(15_000);

const byPath: readonly (readonly [RegExp, (world: World) => Known])[] = [
  [/^\/v1\/(ports|portgroups|volume\/\w+)$/, ({ ids }) => ({ node_uuid: ids.nodes })],
  [
    /\/ramdisks$/,
    () => ({
      name: 'r%id%',
      args: undefined,
      kernel_sha256: undefined,
      initrd_sha256: undefined,
      iso_bytes: 4_096,
      arguments_at: 0,
      arguments_bytes: 1_024,
      files_at: 1_024,
      files_bytes: 1_024,
    }),
  ],
  [/\/images$/, () => ({ name: 'i%id%', url: 'https://images.example.org/x' })],
  [
    /\/disruption-budgets/,
    () => ({
      query: { resource_class: Array.from({ length: 1_000 }, (_, at) => `${'x'.repeat(250)}${at}`) },
      max_unavailable: 1,
      min_available: undefined,
    }),
  ],
  [
    /\/can$/,
    () => ({
      asks: Array.from({ length: 100 }, (_, at) => ({
        rule: 'baremetal:node:set_provision_state',
        node: `worst-${at}`,
      })),
    }),
  ],
  [
    /\/explain$/,
    () => ({
      rule: 'baremetal:node:set_provision_state',
      node: 'worst-2',
      roles: Array.from({ length: 25 }, (_, at) => `role${at}`),
    }),
  ],
  [/\/deploy_templates$/, () => ({ steps: Array.from({ length: 100 }, () => ({ ...power, priority: 1 })) })],
  [
    /\/inspection_rules$/,
    () => ({
      conditions: undefined,
      phase: 'main',
      actions: Array.from({ length: 395 }, () => ({ op: 'set-attribute', args: { path: '/extra/a', value: 'x' } })),
    }),
  ],
  [/\/vifs$/, () => ({ id: '11111111-2222-4333-8444-555555555555', portgroup_uuid: undefined })],
  [/\/v1\/events$/, () => ({ mac_address: '52:54:00:00:00:01' })],
  [/\/states\/power$/, () => ({ target: 'power on' })],
  [/\/states\/provision$|\/plan$/, () => ({ target: 'manage' })],
  [/\/states\/raid$/, () => ({})],
  [
    /\/parameters$/,
    () => ({
      parameters: Array.from({ length: 50 }, (_, at) => ({
        name: `p${at}`,
        schema: { type: 'string' },
        default: long,
      })),
    }),
  ],
  [
    /\/check$/,
    () => ({
      nodes: Array.from({ length: 50 }, (_, at) => `worst-${at + 1}`),
      verb: undefined,
      declared: [],
      steps: Array.from({ length: 100 }, () => ({ ...power, order: 1 })),
    }),
  ],
];

const knownOf = (world: World, path: string): Known =>
  Object.assign({}, always, ...byPath.filter(([at]) => at.test(path)).map(([, more]) => more(world)));

const order = ['get', 'patch', 'post', 'put', 'delete'];

const casesOf = (world: World, method: string, template: string, operation: Operation): Case[] => {
  const known = knownOf(world, template);
  const schema = operation.requestBody?.content['application/json'].schema;
  const path = pathIn(world, template);
  const of = (way: string, query: string, body: string | null): Case => ({
    route: `${method.toUpperCase()} ${template}`,
    way,
    method: method.toUpperCase(),
    path: query === '' ? path : `${path}?${query}`,
    body,
  });
  if (!schema) return worstQueries(operation.parameters ?? [], known).map((query) => of('query', query, null));
  const limit = operation['x-body-limit'] ?? bodyLimit;
  return forms.map((form) => of(form, '', worstBody(schema, form, known, limit)));
};

/** For each route the requests of which the worst is measured; those that change or end its objects come last. */
const generatedCases = (world: World, { paths }: Description): Case[][] =>
  Object.entries(paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
    )
    .sort((one, other) => order.indexOf(one.method) - order.indexOf(other.method))
    .map(({ method, path, operation }) => casesOf(world, method, path, operation));

/** One request of that method and path. */
const given = (route: string, way: string, body: object | null): Case[] => {
  const [method, path] = route.split(' ') as [string, string];
  return [{ route, way, method, path, body: body && JSON.stringify(body) }];
};

const waves = { waves: [{ rest: true }], budget: { total: '100%' } };
const rollout = (way: string, select: object, runbook: string) =>
  given('POST /temper/v1/rollouts', way, { runbook, select, ...waves });

/** Where a small request becomes more than it was, which no schema tells. */
const expandingCases = ({ ids }: World): Case[][] => [
  given('GET /temper/v1/runbooks/CUSTOM_DIFF/revisions/2/diff?from=1', '2,500 settings differ', null),
  given(`PUT /v1/nodes/worst-parent/states/provision`, '500 times a parameter of 60 kB', {
    target: 'clean',
    runbook: 'CUSTOM_PARAM',
  }),
  given(`POST /temper/v1/nodes/worst-parent/plan`, '500 times a parameter of 60 kB', {
    target: 'clean',
    runbook: 'CUSTOM_PARAM',
  }),
  given('POST /temper/v1/runbooks/CUSTOM_PARAM/check', '500 times a parameter of 60 kB, 50 nodes', {
    nodes: Array.from({ length: 50 }, (_, at) => `worst-${at + 1}`),
  }),
  rollout('500 times a parameter of 60 kB', { query: { resource_class: 'worst' } }, 'CUSTOM_PARAM'),
  rollout('7,900 names', { nodes: Array.from({ length: 7_900 }, (_, at) => `worst-none-${at}`) }, 'CUSTOM_PLAN'),
  rollout('a plan of 1,000 nodes', { query: { resource_class: 'worst' } }, 'CUSTOM_PLAN'),
  given('GET /v1/nodes/worst-parent/children', '500 children', null),
  given(`POST /temper/v1/nodes/worst-parent/plan`, 'a step of 60 kB on 500 children', {
    target: 'clean',
    clean_steps: [
      {
        interface: 'bios',
        step: 'apply_configuration',
        execute_on_child_nodes: true,
        args: { settings: [{ name: 'A', value: 'x'.repeat(60_000) }] },
      },
    ],
  }),
  given('POST /temper/v1/nodes/worst-templates/plan', '20 templates of 2,500 settings', { target: 'active' }),
  given('GET /v1/nodes?detail=True&limit=1000&resource_class=heavy', '100 nodes of 1 MB', null),
  given(`GET /v1/nodes/${ids.nodes}/history?detail=True&limit=1000`, 'after all that', null),
  given('GET /temper/v1/events?limit=1000', 'after all that', null),
  given('GET /temper/v1/audit?limit=1000', 'after all that', null),
  given('GET /temper/v1/runs?limit=1000', 'after all that', null),
];

/** For each line of the table the requests of which the worst is measured. */
export const worstCases = (world: World, description: Description): Case[][] => {
  const generated = generatedCases(world, description);
  const ends = ([one]: Case[]) => one!.method === 'DELETE';
  return [...generated.filter((cases) => !ends(cases)), ...expandingCases(world), ...generated.filter(ends)];
};
