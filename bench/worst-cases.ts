/** Worst requests: one of each route of the API's description, made of its schemas, and by hand those that a schema does not tell. */
import { bodyLimit } from '../src/api/http/body';
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
  uuid: undefined,
  name: 'CUSTOM_%id%',
  driver: 'fake-hardware',
  chassis_uuid: undefined,
  instance_uuid: undefined,
  parent_node: undefined,
  portgroup_uuid: undefined,
  node_ident: undefined,
  candidate_nodes: undefined,
  address: undefined,
  owner: undefined,
  lessee: undefined,
  conductor_group: undefined,
  path: `/extra/${'k'.repeat(400)}#`,
  op: 'add',
  traits: undefined,
  shard: undefined,
  protected: false,
  retired: false,
  interface: 'power',
  step: 'reboot',
  order: 1,
  priority: 1,
};

const byPath: readonly (readonly [RegExp, (world: World) => Known])[] = [
  [/^\/v1\/(ports|portgroups|volume\/\w+)$/, ({ ids }) => ({ node_uuid: ids.nodes })],
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

/** For each line of the table the requests of which the worst is measured. */
export const worstCases = async (world: World, description: Description): Promise<Case[][]> =>
  generatedCases(world, description);
