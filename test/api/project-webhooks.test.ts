/** Webhooks of projects: who has them, and that each gets the events that readers of its project may see, checked at each attempt. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readerOf, visibleEvent } from '../../src/admission/events';
import { requireGates } from '../../src/api/temper/rollouts/gates';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { createVault } from '../../src/inventory/secrets/vault';
import { deliverOnce, type NotifyDeps } from '../../src/runs/webhooks';
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, personas, stranger } from '../support/world';

const path = '/temper/v1/webhooks';
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const vault = createVault(new Map([['test', Buffer.alloc(32, 9)]]));

type Received = {
  readonly to: string;
  readonly type: string;
  readonly subject: string;
  readonly data: Record<string, unknown>;
};

let api: TestApi;
let control: Inventory;
let receiver: Server;
let origin: string;
let received: Received[] = [];
let answer = 204;

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ to: request.url!, ...JSON.parse(Buffer.concat(chunks).toString()) });
    response.writeHead(answer).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  api = await startTestApi({ settings: { webhookOrigins: [origin] }, webhooks: true });
  control = createInventory(connect(api.controlUrl, { max: 4 }));
  await addWorker(api.sql);
});
afterAll(async () => {
  receiver?.close();
  await control?.close();
  await api?.close();
});
beforeEach(async () => {
  await api.sql`delete from webhooks`;
  received = [];
  answer = 204;
});

const post = (who: Persona, body: object = {}, to = '/t') =>
  api.as(who, 'POST', path, { body: { url: `${origin}${to}`, kinds: ['node.*'], secret, ...body } });

const nodeFor = async (name: string, values: object): Promise<string> => {
  const body = { name, driver: 'fake-hardware', ...values };
  return (await api.as('operator', 'POST', '/v1/nodes', { body })).body.uuid;
};

const maintenance = (node: string, reason: string) =>
  api.as('operator', 'PUT', `/v1/nodes/${node}/maintenance`, { body: { reason } });

/** As new: a second reason alone is no event. */
const maintenanceAgain = async (node: string, reason: string): Promise<void> => {
  await api.as('operator', 'DELETE', `/v1/nodes/${node}/maintenance`);
  await maintenance(node, reason);
};

const deps = (more: Partial<NotifyDeps> = {}): NotifyDeps => ({
  inventory: control,
  vault,
  origins: [origin],
  projects: {
    ready: async () => true,
    view: (project, event) => visibleEvent(api.rooms.policy(), readerOf(project), event),
  },
  log: { info() {}, warn() {} },
  ...more,
});

/** Waits until no older transaction keeps an event back, and tries what is due. */
const delivered = async (more: Partial<NotifyDeps> = {}): Promise<void> => {
  for (;;) {
    const [row] = await api.sql`select 1 from events where tx >= pg_snapshot_xmin(pg_current_snapshot()) limit 1`;
    if (!row) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  while (await deliverOnce(deps(more), new AbortController().signal));
};

const hurry = () => api.sql`update webhook_deliveries set next_at = now() where state = 'pending'`;
const subjects = (to: string): string[] => received.filter((one) => one.to === to).map(({ subject }) => subject);

describe('a webhook of a project', () => {
  test('belongs to the project of the manager who makes it, and to no other', async () => {
    const made = await post('owner-manager');
    expect([made.status, made.body.project]).toEqual([201, owner]);
    expect((await post('owner-manager', { project: owner })).status).toBe(201);
    const foreign = await post('owner-manager', { project: lessee });
    expect([foreign.status, faultOf(foreign)]).toEqual([403, expect.stringContaining('temper:webhook:create')]);
    const [row] = await api.sql`select rule from audit where resource_id = ${made.body.uuid}`;
    expect(row).toMatchObject({ rule: 'temper:webhook:create' });
  });

  test('is made for any project by a system administrator, whose webhooks without a project are the installation’s', async () => {
    expect((await post('operator', { project: lessee })).body.project).toBe(lessee);
    expect((await post('operator')).body.project).toBeNull();
  });

  test.each(['owner-member', 'owner-reader', 'system-member', 'system-reader'] as const)(
    'is not made by %s',
    async (who) => {
      expect((await post(who)).status).toBe(403);
      expect((await api.as(who, 'GET', path)).status).toBe(403);
    },
  );

  test('is listed, shown, changed and deleted by its managers, and is missing for others', async () => {
    const [mine, theirs, all] = [await post('owner-manager'), await post('lessee-manager'), await post('operator')];
    const seen = (await api.as('owner-manager', 'GET', path)).body.webhooks;
    expect(seen.map(({ uuid }: { uuid: string }) => uuid)).toEqual([mine.body.uuid]);
    expect((await api.as('operator', 'GET', path)).body.webhooks).toHaveLength(3);
    for (const other of [theirs, all])
      for (const [method, below] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['GET', '/deliveries'],
      ] as const) {
        const body = method === 'PATCH' ? { enabled: false } : undefined;
        const reply = await api.as('owner-manager', method, `${path}/${other.body.uuid}${below}`, { body });
        expect([method, below, reply.status]).toEqual([method, below, 404]);
      }
    const one = `${path}/${mine.body.uuid}`;
    expect((await api.as('owner-admin', 'PATCH', one, { body: { enabled: false } })).body.enabled).toBe(false);
    expect((await api.as('owner-manager', 'DELETE', one)).status).toBe(204);
  });

  test('is no gate of a rollout', async () => {
    const [mine, all] = [await post('owner-manager'), await post('operator')];
    const gated = (uuid: string) =>
      requireGates(api.rooms, personas.operator, { waves: [{ gate: { webhook: uuid } }], guard: undefined } as never);
    await expect(gated(all.body.uuid)).resolves.toBeUndefined();
    await expect(gated(mine.body.uuid)).rejects.toMatchObject({ code: 'WebhookNotFound' });
  });

  test('is one of fifty at most', async () => {
    await api.sql`
      insert into webhooks (project, url, kinds) select ${owner}, ${origin}, array['*'] from generate_series(1, 50)`;
    const reply = await post('owner-manager');
    expect([reply.status, faultOf(reply)]).toEqual([409, expect.stringContaining('has 50 webhooks')]);
  });
});

describe('its deliveries', () => {
  test('are the events of its own nodes, as its readers see them', async () => {
    await post('owner-manager', {}, '/owner');
    await post('lessee-manager', {}, '/lessee');
    await post('operator', {}, '/all');
    const [leased, owned, foreign] = [
      await nodeFor('leased', { owner, lessee }),
      await nodeFor('owned', { owner }),
      await nodeFor('foreign', { owner: stranger }),
    ];
    for (const node of [leased, owned, foreign]) await maintenance(node, 'password=geheim');
    await delivered();
    const of = (to: string) => [...new Set(subjects(to))];
    expect(of('/all')).toEqual(expect.arrayContaining([leased, owned, foreign]));
    expect(of('/owner').toSorted()).toEqual([leased, owned].toSorted());
    expect(of('/lessee')).toEqual([leased]);
    const [told] = received.filter(({ to, type }) => to === '/lessee' && type === 'node.maintenance.set');
    const listed = (await api.as('lessee-reader', 'GET', '/temper/v1/events?kind=node.maintenance.set')).body.events;
    expect(told!.data).toEqual({ ...listed[0], node_name: 'leased' });
    expect(JSON.stringify(received)).not.toContain('geheim');
  });

  test('end with the lease: what waits is withdrawn, and the log shows nothing of it', async () => {
    const { body } = await post('lessee-manager', {}, '/lessee');
    const node = await nodeFor('handed', { owner, lessee });
    answer = 500;
    await delivered();
    const before = received.length;
    expect(before).toBeGreaterThan(0);
    await maintenance(node, 'of the lease');
    await api.as('operator', 'PATCH', `/v1/nodes/${node}`, {
      body: [{ op: 'replace', path: '/lessee', value: stranger }],
    });
    await maintenanceAgain(node, 'of the next lease');
    answer = 204;
    await hurry();
    await delivered();
    await delivered();
    expect(received.slice(before)).toEqual([]);
    expect((await api.as('lessee-manager', 'GET', `${path}/${body.uuid}/deliveries`)).body.deliveries).toEqual([]);
  });

  test('begin with the lease: the next project hears nothing of the one before', async () => {
    await post('stranger-admin', { kinds: ['*'] }, '/next');
    const node = await nodeFor('passed-on', { owner, lessee });
    await maintenance(node, 'before');
    await api.as('operator', 'PATCH', `/v1/nodes/${node}`, {
      body: [{ op: 'replace', path: '/lessee', value: stranger }],
    });
    await maintenanceAgain(node, 'after');
    await delivered();
    const told = received.filter(({ to }) => to === '/next').map(({ data }) => data.seq);
    const { events } = (await api.as('stranger-admin', 'GET', `/temper/v1/events?node=${node}`)).body;
    expect(told.toSorted()).toEqual(events.map(({ seq }: { seq: number }) => seq).toSorted());
    expect(received.filter(({ to, type }) => to === '/next' && type === 'node.maintenance.set')).toHaveLength(1);
  });

  test('wait while this worker may not decide, and those of the installation do not', async () => {
    const { body } = await post('owner-manager', {}, '/owner');
    await post('operator', {}, '/all');
    const node = await nodeFor('undecided', { owner });
    const view = jest.fn();
    await delivered({ projects: { ready: async () => false, view } });
    expect([subjects('/owner'), [...new Set(subjects('/all'))]]).toEqual([[], [node]]);
    expect(view).not.toHaveBeenCalled();
    const deliveries = `${path}/${body.uuid}/deliveries`;
    expect((await api.as('owner-manager', 'GET', deliveries)).body.deliveries).toEqual([]);
    await delivered();
    expect([...new Set(subjects('/owner'))]).toEqual([node]);
    const shown = (await api.as('owner-manager', 'GET', deliveries)).body.deliveries;
    expect(shown[0]).toMatchObject({ state: 'delivered', status: 204 });
  });
});
