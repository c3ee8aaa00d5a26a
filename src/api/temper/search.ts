/** Search among the objects that a caller's lists show, by the beginning of a name, an address or an id. */
import { z } from 'zod';
import type { Caller } from '../../model/access/callers';
import { isTemperError } from '../../model/errors';
import { never, type Predicate } from '../../model/predicates';
import { mostFound, type SearchTerm, searchTerm } from '../../model/search';
import type { Policy } from '../../policy';
import * as shapes from '../../wire/installation';
import type { ApiContext } from '../context';
import { behindNode, nodeColumns, requireList, visibleNodes, visibleRows } from '../resource/visibility';
import { type ApiRequest, ok, route } from '../server/route';
import { runbookColumns } from '../v1/runbooks/visibility';
import { ownRows, rolloutColumns, rolloutRules, targetOf } from './rollouts/views';
import { runListRule, runTenantColumns } from './runs/list';

const portRules = { all: 'baremetal:port:list_all', own: 'baremetal:port:list', see: 'baremetal:port:get' } as const;
const runbookRules = { all: 'baremetal:runbook:list_all', own: 'baremetal:runbook:list', see: 'baremetal:runbook:get' } as const; // biome-ignore format: as above
const nodeRules = ['baremetal:node:list_all', 'baremetal:node:list', 'baremetal:node:get'] as const;

const searchQuery = z.strictObject({
  q: z
    .string()
    .trim()
    .min(2, { error: 'must have at least two characters' })
    .max(255, { error: 'must have at most 255 characters' }),
});
type SearchRequest = ApiRequest<unknown, z.output<typeof searchQuery>, unknown>;

/** The rows of a list. None for callers whom the list refuses: what they may not list is as if it were missing. */
const listed = (rows: () => Predicate): Predicate => {
  try {
    return rows();
  } catch (thrown) {
    if (isTemperError(thrown, 'PolicyDenied')) return never;
    throw thrown;
  }
};

const isNever = ({ is }: Predicate): boolean => is === 'false';

type Searching = { readonly ctx: ApiContext; readonly policy: Policy; readonly who: Caller; readonly base: string };

const nodesFound = async ({ ctx, policy, who, base }: Searching, term: SearchTerm) => {
  const visible = listed(() => visibleNodes(policy, who));
  if (isNever(visible)) return [];
  const ports = listed(() => visibleRows(policy, who, { ...portRules, columns: nodeColumns }));
  const found = await ctx.inventory.search.nodes(term, { visible, withPorts: behindNode(policy, who, ports) });
  return found.map((node) => ({ ...node, links: { self: `${base}/v1/nodes/${node.uuid}` } }));
};

const runsFound = async ({ ctx, policy, who, base }: Searching, { uuids }: SearchTerm) => {
  const visible = policy.filter(runListRule, who, runTenantColumns);
  if (uuids === undefined || isNever(visible)) return [];
  const rows = await ctx.inventory.runList.page({ visible, states: ['any'], between: uuids, limit: mostFound + 1 });
  return rows.map(({ id, node_uuid, node_name, verb, runbook_name, state }) => ({
    uuid: id,
    node_uuid,
    node_name,
    verb,
    runbook: runbook_name,
    state,
    links: { self: `${base}/temper/v1/runs/${id}` },
  }));
};

/** Tenants do not see a rollout's name, and so find theirs by id alone. */
const rolloutsFound = async ({ ctx, policy, who, base }: Searching, term: SearchTerm) => {
  const visible = policy.filter(rolloutRules.get, who, rolloutColumns);
  const rows = ownRows(policy, who);
  const limit = mostFound + 1;
  const [byId, byName] = await Promise.all([
    term.uuids && !(isNever(visible) && isNever(rows.visible))
      ? ctx.inventory.rollouts.list({ visible, nodes: rows.visible, own: rows.own, between: term.uuids, limit })
      : [],
    isNever(visible) ? [] : ctx.inventory.search.rollouts(term, visible),
  ]);
  const found = new Map([...byId, ...byName].map((row) => [row.id, row]));
  return [...found.values()].map((row) => ({
    uuid: row.id,
    name: policy.allows(rolloutRules.get, who, targetOf(row)) ? row.name : null,
    verb: row.verb,
    state: row.state,
    links: { self: `${base}/temper/v1/rollouts/${row.id}` },
  }));
};

const runbooksFound = async ({ ctx, policy, who, base }: Searching, term: SearchTerm) => {
  const visible = listed(() => {
    requireList(policy, who, { ...runbookRules, columns: runbookColumns });
    return policy.filter(runbookRules.see, who, runbookColumns);
  });
  if (isNever(visible)) return [];
  const found = await ctx.inventory.search.runbooks(term, visible);
  return found.map((runbook) => ({ ...runbook, links: { self: `${base}/v1/runbooks/${runbook.uuid}` } }));
};

/** The caller's own project by id or name, and another one by its whole id if a visible node is of it. */
const projectsFound = async ({ ctx, policy, who }: Searching, { text }: SearchTerm) => {
  const begins = (given: string | null): boolean => given?.toLowerCase().startsWith(text.toLowerCase()) === true;
  if (who.project_id !== null && (begins(who.project_id) || begins(who.project_name)))
    return [{ id: who.project_id, name: who.project_name }];
  const visible = listed(() => visibleNodes(policy, who));
  const known = !isNever(visible) && (await ctx.inventory.search.isProject(text, visible));
  return known ? [{ id: text, name: null }] : [];
};

const searched = async ({ who, query, base }: SearchRequest, ctx: ApiContext): Promise<shapes.Found> => {
  const asked = { ctx, policy: ctx.policy(), who, base };
  const term = searchTerm(query.q);
  const [nodes, runs, rollouts, runbooks, projects] = await Promise.all([
    nodesFound(asked, term),
    runsFound(asked, term),
    rolloutsFound(asked, term),
    runbooksFound(asked, term),
    projectsFound(asked, term),
  ]);
  const many = { nodes, runs, rollouts, runbooks };
  const more = (Object.keys(many) as (keyof typeof many)[]).filter((kind) => many[kind].length > mostFound);
  return {
    nodes: nodes.slice(0, mostFound),
    runs: runs.slice(0, mostFound),
    rollouts: rollouts.slice(0, mostFound),
    runbooks: runbooks.slice(0, mostFound),
    projects,
    more,
  };
};

export const searchRoutes = [
  route({
    method: 'GET',
    path: '/temper/v1/search',
    answers: { 200: shapes.found },
    rules: [
      ...nodeRules,
      ...Object.values(portRules),
      runListRule,
      rolloutRules.get,
      rolloutRules.own,
      ...Object.values(runbookRules),
    ],
    query: searchQuery,
    handler: async (request, ctx) => ok(await searched(request, ctx)),
  }),
];
