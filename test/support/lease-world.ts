/** One node that changes hands, and all that a tenant can leave behind on it. */
import { randomUUID } from 'node:crypto';
import { hashOf } from '../../src/inventory/secrets/boot-tokens';
import { anonymous, type Caller, expandRoles } from '../../src/model/access/callers';
import { raise } from '../../src/model/errors';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { accept } from '../../src/runs/accept';
import { endRun } from '../../src/runs/ending';
import type { Reply, Request } from './api';
import { quickTiming } from './engine';
import { type RolloutWorld, startRolloutWorld, unasked } from './rollout-world';
import { testVault } from './vault';
import { type Persona, passersBy, personas } from './world';

/** An administrator of this project; administrators have every role below. */
export const adminOf = (project: string): Persona => `admin@${project}` as Persona;

const identify = async ({ token }: { readonly token: string | null }): Promise<Caller> => {
  const known: Readonly<Record<string, Caller | undefined>> = { ...personas, ...passersBy };
  const [, project] = /^admin@(.+)$/.exec(token ?? '') ?? [];
  const admin = project && { ...personas['stranger-admin'], ...anonymousOf(project), roles: expandRoles(['admin']) };
  const caller = admin || known[token ?? ''];
  return caller ?? raise('Unauthenticated', { challenge: 'Keystone uri="http://identity.example.org"' });
};
const anonymousOf = (project_id: string) => ({
  ...anonymous,
  user_id: `user-of-${project_id}`,
  user_name: `user-of-${project_id}`,
  project_id,
  project_name: project_id,
});

/** Runs that the API begins are accepted in the store, as those of rollouts are. */
export const startLeaseWorld = async (): Promise<RolloutWorld> => {
  const world: RolloutWorld = await startRolloutWorld({
    identity: { identify: identify as never },
    runs: {
      start: async (order) => {
        const { input } = await accept(order, {
          inventory: world.api.inventory,
          vault: testVault,
          timing: quickTiming,
        });
        return { run: input.lock.run };
      },
    },
  });
  await world.runbook('CUSTOM_RESTART');
  return world;
};

/** What was left, by the kind that a path names it by. */
export type Left = Readonly<Record<string, string[]>> & {
  readonly keyed: { readonly path: string; readonly again: () => Promise<Reply> }[];
  readonly plans: string[];
};

/** A tenant's time with the node: its project, and a text that is in all it writes. */
export type Tenant = { readonly project: string; readonly mark: string; readonly node: NodeUuid; readonly left: Left };

export const leftNothing = (): Left => ({ keyed: [], plans: [] }) as never;
const keep = (left: Left, kind: string, id: string): string => {
  const lists = left as unknown as Record<string, string[]>;
  lists[kind] = [...(lists[kind] ?? []), id];
  return id;
};

/** What a tenant does, through the API wherever that can. */
export const tenancies = (world: RolloutWorld) => {
  const { api } = world;
  const { sql } = api;
  const put = (node: string, values: object) => sql`update nodes set ${sql(values as never)} where uuid = ${node}`;

  const well = async ({ project }: Tenant, method: string, path: string, request: Request = {}): Promise<Reply> => {
    const reply = await api.as(adminOf(project), method, path, request);
    if (reply.status >= 300) throw new Error(`${project}: ${method} ${path}: ${reply.status} ${reply.text}`);
    return reply;
  };
  const made = async (tenant: Tenant, kind: string, path: string, body: object): Promise<string> =>
    keep(tenant.left, kind, (await well(tenant, 'POST', path, { body })).body.uuid);
  const patch = (tenant: Tenant, ...ops: readonly (readonly [path: string, value: unknown])[]) =>
    well(tenant, 'PATCH', `/v1/nodes/${tenant.node}`, {
      body: ops.map(([path, value]) => ({ op: 'add', path, value })),
    });
  /** Sends it, and keeps it for a repeat under its key. */
  const keyed = async (tenant: Tenant, method: string, path: string, body?: unknown): Promise<Reply> => {
    const request = { body, headers: { 'idempotency-key': randomUUID() } };
    tenant.left.keyed.push({ path, again: () => api.as(adminOf(tenant.project), method, path, request) });
    return well(tenant, method, path, request);
  };
  const endRuns = async (node: string, outcome: 'succeeded' | 'failed' | 'aborted', error: string | null = null) => {
    const runs = await sql<{ id: RunUuid; node_uuid: NodeUuid; fence: number }[]>`
      select id, node_uuid, fence from runs where node_uuid = ${node} and finished_at is null`;
    for (const { id, node_uuid, fence } of runs)
      await world.deps.inventory.transaction((store) =>
        endRun(store, {
          lock: { run: id, node_uuid, fence },
          outcome,
          ends: 'done',
          fault: 'service failure',
          error,
          cursor: 0,
          power: null,
        }),
      );
  };
  /** Back to where the next of its acts can begin; an operator's part. */
  const ready = (node: string, provision_state = 'active') =>
    put(node, {
      provision_state,
      target_provision_state: null,
      maintenance: false,
      fault: null,
      power_state: 'power on',
    });

  // An owner's own volumes stay where its node is leased.
  let volumes = 0;
  const service = async (tenant: Tenant): Promise<void> => {
    await ready(tenant.node);
    const body = { target: 'service', runbook: 'CUSTOM_RESTART' };
    await keyed(tenant, 'PUT', `/v1/nodes/${tenant.node}/states/provision`, body);
    const [run] = await sql`select id from runs where node_uuid = ${tenant.node} and finished_at is null`;
    keep(tenant.left, 'runs', run!.id);
    keep(tenant.left, 'services', run!.id);
  };
  const plan = async (tenant: Tenant, more: object = {}) => {
    await ready(tenant.node);
    const body = {
      runbook: 'CUSTOM_RESTART',
      budget: { total: '100%' },
      select: { nodes: [tenant.node] },
      name: tenant.mark,
    };
    const waves = [{ rest: true, soak: '1h' }];
    const reply = await keyed(tenant, 'POST', '/temper/v1/rollouts', { ...body, waves, ...more });
    keep(tenant.left, 'rollouts', reply.body.uuid);
    tenant.left.plans.push(reply.body.plan_hash);
    return reply.body as { uuid: string; plan_hash: string };
  };
  const begin = async (tenant: Tenant, more: object = {}) => {
    const rollout = await plan(tenant, more);
    await world.start(rollout, {}, adminOf(tenant.project));
    await world.tend(rollout);
    const [target] = await world.targets(rollout);
    if (target.state !== 'admitted')
      throw new Error(`a rollout of ${tenant.project} does not begin: ${JSON.stringify(target)}`);
    keep(tenant.left, 'runs', target.run);
    return rollout;
  };

  const leavings: Readonly<Record<string, (tenant: Tenant) => Promise<unknown>>> = {
    words: (tenant) => patch(tenant, ['/extra/plan', { note: tenant.mark }], ['/description', tenant.mark]),
    instance: async (tenant) => {
      await ready(tenant.node, 'available');
      await patch(tenant, ['/instance_info/user_note', tenant.mark], ['/instance_info/some_password', tenant.mark]);
    },
    protection: async (tenant) => {
      await ready(tenant.node);
      await patch(tenant, ['/protected', true], ['/protected_reason', tenant.mark]);
    },
    volumes: async (tenant) => {
      await put(tenant.node, { provision_state: 'available', power_state: 'power off' });
      const { node: node_uuid, mark } = tenant;
      const properties = { target_iqn: mark, auth_password: mark };
      const target = {
        node_uuid,
        volume_type: 'iscsi',
        volume_id: mark.slice(0, 36),
        boot_index: volumes++,
        properties,
      };
      await made(tenant, 'volume/targets', '/v1/volume/targets', target);
      const connector = { node_uuid, type: 'iqn', connector_id: `iqn.${mark}`, extra: { note: mark } };
      await made(tenant, 'volume/connectors', '/v1/volume/connectors', connector);
    },
    network: async (tenant) => {
      await ready(tenant.node);
      keep(tenant.left, 'vifs', tenant.mark);
      await keyed(tenant, 'POST', `/v1/nodes/${tenant.node}/vifs`, { id: tenant.mark });
    },
    allocation: async (tenant) => {
      const waiting = { name: `w-${tenant.mark}`, resource_class: 'large', candidate_nodes: [tenant.node] };
      keep(tenant.left, 'allocations', (await keyed(tenant, 'POST', '/v1/allocations', waiting)).body.uuid);
      const [given] = await sql`select owner from allocations where node_uuid = ${tenant.node}`;
      // Of a project whose lease went on while the owner changed.
      if (given?.owner === tenant.project) return;
      const held = await made(tenant, 'allocations', '/v1/allocations', {
        name: tenant.mark,
        resource_class: 'large',
      });
      // As after a tear-down.
      const free = {
        provision_state: 'available',
        resource_class: 'large',
        power_state: 'power off',
        maintenance: false,
      };
      await put(tenant.node, { ...free, ...(!given && { instance_uuid: null }) });
      const { allocationPasses } = world.deps.inventory;
      const [wish] = await allocationPasses.take(1, [held as never]);
      if (!wish || !(await allocationPasses.reserve(wish)))
        throw new Error(`no node for an allocation of ${tenant.project}`);
    },
    projects: async (tenant) => {
      const { mark } = tenant;
      const steps = [{ interface: 'power', step: 'reboot', args: {}, order: 1 }];
      const name = `CUSTOM_${mark.replace(/\W/g, '_').toUpperCase()}`;
      await made(tenant, 'runbooks', '/v1/runbooks', { name, description: mark, steps });
      const window = { name: mark, days: ['sat'], from: '22:00', minutes: 60, zone: 'UTC' };
      await made(tenant, 'windows', '/temper/v1/windows', window);
      await made(tenant, 'disruption-budgets', '/temper/v1/disruption-budgets', { max_unavailable: 1 });
    },
    ticket: async (tenant) => {
      await put(tenant.node, { console_enabled: true });
      const node = (await api.inventory.nodes.find({ uuid: tenant.node }))!;
      const requester = { user_id: tenant.mark } as never;
      keep(tenant.left, 'tickets', tenant.mark);
      const ticket = { ticket_hash: hashOf(tenant.mark), node, requester, useMs: 3_600_000, lastsMs: 3_600_000 };
      await api.inventory.consoleTickets.make(ticket);
    },
    failure: async (tenant) => {
      await service(tenant);
      await endRuns(tenant.node, 'failed', tenant.mark);
    },
    plans: (tenant) => plan(tenant),
    soak: async (tenant) => {
      await begin(tenant);
      await endRuns(tenant.node, 'succeeded');
    },
    failed: async (tenant) => {
      const rollout = await begin(tenant);
      await endRuns(tenant.node, 'failed', tenant.mark);
      await world.act(rollout, 'pause', { reason: tenant.mark }, adminOf(tenant.project));
    },
    consent: async (tenant) => {
      await ready(tenant.node);
      const rollout = await world.plan({ select: { nodes: [tenant.node] } }, 'operator');
      keep(tenant.left, 'rollouts', rollout.uuid);
      const path = `/temper/v1/rollouts/${rollout.uuid}/targets/${tenant.node}/consent`;
      await keyed(tenant, 'POST', path, { at: '2040-01-01T00:00:00Z', reason: tenant.mark });
    },
    maintenance: async (tenant) => {
      await keyed(tenant, 'PUT', `/v1/nodes/${tenant.node}/maintenance`, { reason: tenant.mark });
      await ready(tenant.node);
    },
  };

  /** The runs with which a tenant can leave the node held. */
  const holds: Readonly<Record<string, (tenant: Tenant) => Promise<unknown>>> = {
    nothing: async () => {},
    running: service,
    parked: async (tenant) => {
      await service(tenant);
      await sql`update runs set state = 'parked', last_error = ${tenant.mark} where node_uuid = ${tenant.node} and finished_at is null`;
      await put(tenant.node, { last_error: tenant.mark });
    },
    rollout: (tenant) => begin(tenant),
  };

  /** What the tenant sees of the events of its node: places from which a stream could go on. */
  const places = async (tenant: Tenant): Promise<void> => {
    const { events } = (await well(tenant, 'GET', `/temper/v1/events?node=${tenant.node}`)).body;
    for (const { seq } of events.slice(0, 3)) keep(tenant.left, 'events', String(seq));
  };

  return { leavings, holds, endRuns, ready, put, places, well };
};
export type Tenancies = ReturnType<typeof tenancies>;

/** Tenants are not asked about rollouts of the system here; each has a rule for what the defaults leave to the owner. */
export const widePolicy = (rules: readonly string[]) => {
  const tenants = 'project_id:%(node.owner)s or project_id:%(node.lessee)s or role:reader and system_scope:all';
  const ofNodes = rules.filter(
    (rule) => /^baremetal:(node|port|portgroup|volume):/.test(rule) && !/list(_all)?$|create$|:chassis/.test(rule),
  );
  return { ...unasked, ...Object.fromEntries(ofNodes.map((rule) => [rule, tenants])) };
};
