/**
 * Over random histories of a node's tenants, each of whom leaves behind what a tenant can: after the last hand-over a former tenant sees,
 * changes, spends and delays nothing of the node, by every route of the description, and the next tenant finds nothing of the former ones.
 * 2 histories, or as many as TEMPER_LEASE_HISTORIES says; TEMPER_LEASE_SEED says which.
 */
import fc from 'fast-check';
import { routes } from '../../src/api';
import { createInventory } from '../../src/inventory';
import { hashOf } from '../../src/inventory/secrets/boot-tokens';
import type { NodeUuid } from '../../src/model/ids';
import { historyUuid } from '../../src/model/resources/history';
import type { Reply } from '../support/api';
import {
  adminOf,
  type Left,
  leftNothing,
  startLeaseWorld,
  type Tenancies,
  type Tenant,
  tenancies,
  widePolicy,
} from '../support/lease-world';
import type { RolloutWorld } from '../support/rollout-world';
import { bodyFor, kindOf, missing } from '../support/walk';

const histories = Number(process.env.TEMPER_LEASE_HISTORIES ?? 2);
const seed = Number(process.env.TEMPER_LEASE_SEED ?? 7);

let world: RolloutWorld;
let tenant: Tenancies;
beforeAll(async () => {
  world = await startLeaseWorld();
  tenant = tenancies(world);
});
afterAll(() => world?.close());

const owners = ['project-gold', 'project-silver'];
const lessees = ['project-red', 'project-green', 'project-blue'];

/** A stretch of time with one owner and one lessee, or none. */
type Period = {
  readonly owner: string;
  readonly lessee: string | null;
  readonly leaves: readonly string[];
  readonly held: string;
};
type History = { readonly wide: boolean; readonly periods: readonly Period[]; readonly last: string | null };

const leavingNames = [
  'words', 'instance', 'protection', 'volumes', 'network', 'allocation', 'projects', 'ticket', 'failure', 'plans', 'soak', 'failed', 'consent',
  'maintenance',
]; // biome-ignore format: one row of names
const holdNames = ['nothing', 'running', 'parked', 'rollout'];

const period: fc.Arbitrary<Period> = fc.record({
  owner: fc.constantFrom(owners[0]!, ...owners),
  lessee: fc.constantFrom(...lessees, ...lessees, null),
  leaves: fc.shuffledSubarray(leavingNames, { minLength: 6 }),
  held: fc.constantFrom(...holdNames),
});
const history: fc.Arbitrary<History> = fc.record({
  wide: fc.boolean(),
  periods: fc.array(period, { minLength: 2, maxLength: 3 }),
  last: fc.constantFrom(...lessees, ...lessees, null),
});

const tenantOf = ({ owner, lessee }: Pick<Period, 'owner' | 'lessee'>): string => lessee ?? owner;

type Told = { readonly node: NodeUuid; readonly name: string };
/** Those who had the node, and each period's tenant; the last is the tenant of now. */
type Played = Told & {
  readonly owner: string;
  readonly lessee: string | null;
  readonly past: readonly Tenant[];
  readonly now: Tenant;
};

const handTo = async (node: string, to: { readonly owner: string; readonly lessee: string | null }): Promise<void> => {
  await world.api.sql`update nodes set owner = ${to.owner} where uuid = ${node} and owner is distinct from ${to.owner}`;
  const { api } = world;
  const op = to.lessee === null ? { op: 'remove', path: '/lessee' } : { op: 'add', path: '/lessee', value: to.lessee };
  const { status, text } = await api.as('operator', 'PATCH', `/v1/nodes/${node}`, { body: [op] });
  // A node that a run holds changes hands by the run's own end, or past the API.
  if (status === 409) await api.sql`update nodes set lessee = ${to.lessee} where uuid = ${node}`;
  else expect([status, text]).toEqual([200, text]);
};

let played = 0;
const marked = (node: NodeUuid, project: string, when: number | 'now'): Tenant => ({
  project,
  node,
  mark: `mark-${played}-${when}-of-${project.slice(8)}`,
  left: leftNothing(),
});

const live = async (one: Tenant, { leaves, held }: Pick<Period, 'leaves' | 'held'>): Promise<void> => {
  for (const name of leaves) {
    await tenant.leavings[name]!(one);
    met.add(name);
  }
  await tenant.holds[held]!(one);
  met.add(`held: ${held}`);
  await tenant.places(one);
};
const met = new Set<string>();

/** What was left of one history bounds nothing of the next. */
const forget = async (): Promise<void> => {
  await world.api.sql`delete from disruption_budgets`;
  await world.api.sql`update nodes set owner = null, lessee = null`;
};

/** Plays a history up to the tenant of now, who does all that a tenant can: nothing of the others is in its way. */
const play = async ({ wide, periods, last }: History): Promise<Played> => {
  played++;
  const rules = [...new Set(routes.flatMap(({ rules }) => (rules === 'public' ? [] : rules)))];
  world.setPolicy({ set: 'temper', overrides: wide ? widePolicy(rules) : {} });
  const [node] = await world.nodes(['r1'], { owner: periods[0]!.owner, lessee: null });
  const past: Tenant[] = [];
  for (const [at, one] of periods.entries()) {
    await handTo(node!, one);
    past.push(marked(node!, tenantOf(one), at));
    await live(past.at(-1)!, one);
    // Nobody else's run is in the next one's way: that one is the owner's to end.
    if (at < periods.length - 1) await tenant.endRuns(node!, 'aborted');
  }
  const { owner } = periods.at(-1)!;
  await handTo(node!, { owner, lessee: last });
  const now = marked(node!, last ?? owner, 'now');
  if (periods.at(-1)!.held !== 'nothing' && tenantOf(periods.at(-1)!) !== now.project) await isBusy(now);
  await tenant.endRuns(node!, 'failed', now.mark);
  await live(now, { leaves: leavingNames, held: 'rollout' });
  const name = `renamed-${now.mark}`;
  const changed = { name, provision_state: 'inspect failed', last_error: now.mark, fault: now.mark, maintenance: true };
  await tenant.put(node!, { ...changed, maintenance_reason: now.mark });
  return { node: node!, name, owner, lessee: last, past, now };
};

/** While a run of another lease holds the node, which its owner may end, and the documents say so. */
const isBusy = async (now: Tenant): Promise<void> => {
  const body = { target: 'service', runbook: 'CUSTOM_RESTART' };
  const reply = await world.api.as(adminOf(now.project), 'PUT', `/v1/nodes/${now.node}/states/provision`, { body });
  expect([reply.status, reply.text]).toEqual([409, reply.text]);
};

const leftOf = ({ past, now }: Played, kind: string): string[] =>
  [...past, now].flatMap(({ left }) => (left as Left)[kind] ?? []);

/** The last of each tenant's: all of them would be asked for one by one. */
const lastOf = ({ past, now }: Played, kind: string): string[] =>
  [...past, now].flatMap(({ left }) => ((left as Left)[kind] ?? []).slice(-1));

/** What stands for a parameter of a path behind the first. */
const inner = (it: Played, param: string): string[] => {
  const { node } = it;
  switch (param) {
    case 'node':
      return [node];
    case 'event':
      return lastOf(it, 'events').map((seq) => historyUuid(node, Number(seq)));
    case 'child':
      return [...lastOf(it, 'volume/targets'), ...lastOf(it, 'volume/connectors')];
    case 'vif':
      return lastOf(it, 'vifs');
    case 'trait':
      return ['CUSTOM_RESTART'];
    case 'indicator':
      return ['led@chassis'];
    case 'revision':
      return ['1'];
    default:
      return [missing];
  }
};

/** Every path that names the node, or something that was left. */
const pathsOf = (it: Played, path: string): string[] => {
  const [first, ...others] = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  if (first === undefined) return [path];
  const kind = kindOf(path);
  const named = kind === 'nodes' ? [it.node, it.name] : lastOf(it, kind);
  let paths = (named.length > 0 ? named : [missing]).map((ident) => path.replace(`:${first}`, ident));
  for (const param of others)
    paths = paths.flatMap((one) =>
      inner(it, param).map((value) => one.replace(`:${param}`, encodeURIComponent(value))),
    );
  return paths;
};

/** Questions of lists that name the node, or something that was left. */
const queriesOf = (it: Played, path: string): string[] => {
  const { node } = it;
  const named: Readonly<Record<string, readonly string[]>> = {
    '/v1/nodes': [`instance_uuid=${node}`, `marker=${node}`, `parent_node=${node}`],
    '/v1/nodes/validate': [`node=${node}`],
    '/v1/ports': [`node=${node}`],
    '/v1/ports/detail': [`node=${node}`],
    '/v1/portgroups': [`node=${node}`],
    '/v1/volume/targets': [`node=${node}`, ...lastOf(it, 'volume/targets').map((uuid) => `marker=${uuid}`)],
    '/v1/volume/connectors': [`node=${node}`, ...lastOf(it, 'volume/connectors').map((uuid) => `marker=${uuid}`)],
    '/v1/allocations': [`node=${node}`, ...lastOf(it, 'allocations').map((uuid) => `marker=${uuid}`)],
    '/temper/v1/runs': [
      `node=${node}&state=any`,
      'state=any',
      ...lastOf(it, 'runs').map((run) => `marker=${run}&state=any`),
    ],
    '/temper/v1/events': [
      `node=${node}`,
      ...['runs', 'rollouts'].flatMap((kind) => lastOf(it, kind).map((id) => `${kind.slice(0, -1)}=${id}`)),
    ],
    '/temper/v1/rollouts': lastOf(it, 'rollouts').map((id) => `marker=${id}`),
    '/temper/v1/freezes': [`node=${node}`],
    '/temper/v1/audit': [`node=${node}`, `resource=node&resource_id=${node}`],
    '/temper/v1/policy/explain': [
      `rule=baremetal:node:get&node=${node}`,
      ...lastOf(it, 'runs').map((run) => `rule=temper:run:get&run=${run}`),
    ],
    '/temper/v1/summary': ['only=trouble'],
  };
  return ['', ...(named[path] ?? []).map((query) => `?${query}`)];
};

const steps = [{ interface: 'power', step: 'reboot', args: {}, order: 1 }];
/** Bodies that name the node, of paths that do not. */
const naming = (it: Played, plans: readonly string[]): Readonly<Record<string, readonly unknown[]>> => {
  const { node } = it;
  const rollout = {
    runbook: 'CUSTOM_RESTART',
    budget: { total: '100%' },
    waves: [{ rest: true }],
    select: { nodes: [node] },
  };
  return {
    '/v1/ports': [{ node_uuid: node, address: '52:54:00:00:00:02' }],
    '/v1/portgroups': [{ node_uuid: node }],
    '/v1/volume/connectors': [{ node_uuid: node, type: 'ip', connector_id: '192.0.2.9' }],
    '/v1/volume/targets': [{ node_uuid: node, volume_type: 'x', volume_id: 'v', boot_index: 7 }],
    '/v1/allocations': [
      { node, resource_class: 'large' },
      { candidate_nodes: [it.name], resource_class: 'large' },
    ],
    '/temper/v1/rollouts': [rollout],
    '/temper/v1/runbooks/check': [{ steps, nodes: [node] }],
    '/temper/v1/policy/can': [
      { rules: ['baremetal:node:get'], node },
      ...lastOf(it, 'runs').map((run) => ({ rules: ['temper:run:get'], run })),
    ],
    start: plans.map((plan_hash) => ({ reason: 'x', plan_hash })),
  };
};

type Asked = { readonly method: string; readonly path: string; readonly body: unknown };

// What is refused or taken away comes last.
const order = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'];

/** Everything that the description offers, about the node and about all that was left; streams are read elsewhere. */
const requestsOf = (it: Played, methods: readonly string[], plans: readonly string[] = []): Asked[] =>
  routes
    .filter(
      ({ method, open, rules, path }) =>
        methods.includes(method) && !open && rules !== 'public' && !/rollout\/events$/.test(path),
    )
    .sort((one, other) => order.indexOf(one.method) - order.indexOf(other.method))
    .flatMap(({ method, path }) => {
      const special = method === 'POST' ? naming(it, plans)[/\/start$/.test(path) ? 'start' : path] : undefined;
      return pathsOf(it, path).flatMap((one) => {
        const bodies = special?.length ? special : [bodyFor(method, one)];
        const queries = method === 'GET' ? queriesOf(it, path) : [''];
        return queries.flatMap((query) => bodies.map((body) => ({ method, path: `${one}${query}`, body })));
      });
    });

const ask = (who: string, { method, path, body }: Asked): Promise<Reply> => {
  const of = /\/runs\/[^/]+\/events$/.test(path) ? { 'last-event-id': '1' } : undefined;
  return world.api.as(adminOf(who), method, path, { body, ...(of && { headers: of }) });
};

/** What of the node and of its tenant no former one may read, but for what the request itself says. */
const secretsOf = ({ now, name }: Played): string[] => {
  const { keyed: _, plans: _plans, events: _events, ...kinds } = now.left as Record<string, unknown>;
  return [now.mark, name, 'inspect failed', ...Object.values(kinds as Record<string, string[]>).flat()];
};
const tells = (reply: Reply, secrets: readonly string[], { path, body }: Pick<Asked, 'path' | 'body'>): string[] => {
  const asked = decodeURIComponent(path) + JSON.stringify(body ?? null);
  return secrets.filter((secret) => !asked.includes(secret) && reply.text.includes(secret));
};

/** Which of these requests of a project tell what. Several that change nothing are sent at once. */
const tellings = async (who: string, requests: readonly Asked[], secrets: readonly string[]): Promise<unknown[]> => {
  const told: unknown[] = [];
  for (let at = 0; at < requests.length; ) {
    const reads = requests.slice(at, at + 8).findIndex(({ method }) => method !== 'GET');
    const batch = requests.slice(at, at + (reads === -1 ? 8 : Math.max(reads, 1)));
    at += batch.length;
    const replies = await Promise.all(batch.map((one) => ask(who, one)));
    for (const [index, reply] of replies.entries()) {
      const found = tells(reply, secrets, batch[index]!);
      if (found.length > 0) told.push({ who, ...batch[index], found });
    }
  }
  return told;
};

const tablesOf = async (): Promise<string[]> => {
  const rows = await world.api.sql`
    select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`;
  return rows.map(({ relname }) => relname as string).filter((name) => name !== 'audit');
};

/** Rows about the node or about its tenant of now, but for what the former tenant has of its own: `own` names that. */
const rowsOf = async (it: Played, own: readonly string[]): Promise<string[]> => {
  const about = [it.node, it.now.project, it.now.mark, ...leftOf({ ...it, past: [] }, 'runs')];
  const found: string[] = [];
  for (const table of await tablesOf()) {
    const rows = await world.api.sql<{ row: string }[]>`select t::text as row from ${world.api.sql(table)} t`;
    const owned = /^(rollout|runbook|allocations|events)/.test(table) ? own : [];
    for (const { row } of rows)
      if (about.some((text) => row.includes(text)) && !owned.some((text) => row.includes(text)))
        found.push(`${table}: ${row}`);
  }
  return found.sort();
};

/** What workers are asked to do. */
const orders = (): number => {
  const { started, moved, sent, operated, called } = world.api.runs;
  return started.length + moved.length + sent.length + operated.length + called.length;
};

/** The former tenant asks for everything there is, again what it asked for with a key, and goes on with its rollouts. */
const haunt = async (it: Played, former: Tenant): Promise<void> => {
  const own = it.past.filter(({ project }) => project === former.project);
  const planned = await world.api.sql<{ id: string }[]>`select id from rollouts where project = ${former.project}`;
  const ofIts = own.flatMap(({ left }) => ['runbooks', 'allocations'].flatMap((kind) => (left as Left)[kind] ?? []));
  const owned = [former.project, ...planned.map(({ id }) => id), ...ofIts];
  const [before, asked, secrets] = [await rowsOf(it, owned), orders(), secretsOf(it)];
  for (const { path, again } of own.flatMap(({ left }) => left.keyed)) {
    const reply = await again();
    expect(tells(reply, secrets, { path: '', body: null })).toEqual([]);
    if (path.includes(it.node)) expect([path, reply.status]).toEqual([path, 404]);
  }
  const plans = own.flatMap(({ left }) => left.plans);
  expect(await tellings(former.project, requestsOf(it, order, plans), secrets)).toEqual([]);
  for (const { id } of planned) await world.tend({ uuid: id });
  for (const ticket of own.flatMap(({ left }) => (left as Left).tickets ?? []))
    expect(await createInventory(world.api.sql).consoleTickets.redeem(hashOf(ticket), '', 1)).toEqual({
      is: 'unknown',
    });
  expect(await rowsOf(it, owned)).toEqual(before);
  expect(orders()).toBe(asked);
  await readStreams(it, former, secrets);
};

/** What the former tenant's streams say, from each place that it kept and is still admitted to, until an event of a node of its own. */
const readStreams = async (it: Played, former: Tenant, secrets: readonly string[]): Promise<void> => {
  const { api } = world;
  const over = new AbortController();
  const open = (last: string) =>
    fetch(`${api.url}/temper/v1/events`, {
      headers: { 'x-auth-token': adminOf(former.project), accept: 'text/event-stream', 'last-event-id': last },
      signal: over.signal,
    });
  const [own] = await world.nodes(['r9'], { owner: former.project });
  const happens = async (node: string, owner: string, lessee: string | null, data: object): Promise<string> => {
    const [row] = await api.sql`
      insert into events (kind, node_uuid, project, lessee, data)
      values ('node.power', ${node}, ${owner}, ${lessee}, ${api.sql.json(data as never)}) returning seq`;
    return String(row!.seq);
  };
  const witness = () => happens(own!, former.project, null, {});
  const replies = await Promise.all([await witness(), ...leftOf(it, 'events')].map(open));
  await happens(it.node, it.owner, it.lessee, { error: it.now.mark });
  const last = await witness();
  const texts = replies.map(async (reply) => {
    if (reply.status !== 200) return reply.text();
    let text = '';
    for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      if (text.includes(`id: ${last}\n`)) break;
    }
    return text;
  });
  const told = (await Promise.all(texts)).filter((text) => secrets.some((secret) => text.includes(secret)));
  over.abort();
  expect([told, replies[0]!.status]).toEqual([[], 200]);
};

/**
 * What the next lessee may find of a former one, as docs/tenants.md says: `instance_info`, while something is deployed, for who gets
 * the node gets its disks as well. Here nothing is left deployed by what writes it.
 */
const findsNothing = async (it: Played): Promise<void> => {
  if (it.lessee === null) return;
  const foreign = it.past.filter(({ project }) => project !== it.now.project && lessees.includes(project));
  const marks = foreign.map(({ mark }) => mark);
  // Runs of its own earlier leases are not given back to it either.
  const others = it.past.findLastIndex(({ project }) => project !== it.now.project);
  const ended = it.past.slice(0, Math.max(others, 0)).filter(({ project }) => project === it.now.project);
  const runs = ended.flatMap(({ left }) => (left as Left).services ?? []);
  expect(await tellings(it.now.project, requestsOf(it, ['GET']), [...marks, ...runs])).toEqual([]);
};

test('a former tenant sees, changes, spends and delays nothing, and the next one finds nothing of it', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (one) => {
      const it = await play(one);
      await findsNothing(it);
      const formers = new Map(it.past.map((former) => [former.project, former]));
      for (const project of [it.owner, it.lessee]) formers.delete(project ?? '');
      for (const former of formers.values()) await haunt(it, former);
      if (formers.size > 0) met.add('a former tenant');
      await forget();
    }),
    { numRuns: histories, seed, endOnFailure: true },
  );
  // Too short histories would prove nothing.
  expect([...met].filter((name) => leavingNames.includes(name))).toHaveLength(leavingNames.length);
  expect(met.has('a former tenant')).toBe(true);
}, 600_000);
