/** A request whose node another writer changes, hands on or deletes while it is decided: it is decided again by what that one left. */
import { until } from '../../demo/nodes';
import { type Reply, startTestApi, type TestApi } from '../support/api';
import { lessee, owner } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  // Requests do not wait for a node that a run holds.
  api = await startTestApi({ settings: { lockWaitMs: 0 } });
});
afterAll(() => api.close());

const enrolled = async (): Promise<string> => {
  const body = { driver: 'fake-hardware', raid_interface: 'agent', owner, lessee };
  const { body: node } = await api.as('operator', 'POST', '/v1/nodes', { body });
  return node.uuid;
};

/** Asks while another writer's statement about the node is not committed yet, and commits that once the request waits for it. */
const meanwhile = async (statement: string, ask: () => Promise<Reply>): Promise<Reply> => {
  const other = await api.sql.reserve();
  try {
    await other.unsafe('begin');
    await other.unsafe(statement);
    const asked = ask();
    await until('the request to wait for the row', 60_000, async () => {
      const [waiting] = await other`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting;
    });
    await other.unsafe('commit');
    return await asked;
  } finally {
    other.release();
  }
};

const changes = {
  PATCH: (uuid: string) =>
    api.as('operator', 'PATCH', `/v1/nodes/${uuid}`, { body: [{ op: 'add', path: '/extra/a', value: 1 }] }),
  DELETE: (uuid: string) => api.as('operator', 'DELETE', `/v1/nodes/${uuid}`),
  'PUT of a RAID configuration': (uuid: string) =>
    api.as('operator', 'PUT', `/v1/nodes/${uuid}/states/raid`, {
      body: { logical_disks: [{ size_gb: 100, raid_level: '1' }] },
    }),
  'PUT of maintenance': (uuid: string) =>
    api.as('operator', 'PUT', `/v1/nodes/${uuid}/maintenance`, { body: { reason: 'fan' } }),
  'PATCH of a lessee': (uuid: string) =>
    api.as('lessee-admin', 'PATCH', `/v1/nodes/${uuid}`, { body: [{ op: 'add', path: '/instance_info/a', value: 1 }] }),
} as const;

const recorded = async (uuid: string): Promise<unknown[]> => [
  ...(await api.sql`select action from audit where resource_id = ${uuid} and verdict = 'granted' order by at`),
  ...(await api.sql`select kind from events where node_uuid = ${uuid} order by kind`),
];

describe.each(Object.entries(changes))('%s', (_name, ask) => {
  test('goes through where the other one wrote something else', async () => {
    const uuid = await enrolled();
    const reply = await meanwhile(`update nodes set description = 'of the other' where uuid = '${uuid}'`, () =>
      ask(uuid),
    );
    expect([200, 202, 204]).toContain(reply.status);
  });

  test('finds no node that the other one deleted, and leaves no record', async () => {
    const uuid = await enrolled();
    const before = await recorded(uuid);
    const reply = await meanwhile(`delete from nodes where uuid = '${uuid}'`, () => ask(uuid));
    expect(reply.status).toBe(404);
    expect(await recorded(uuid)).toEqual(before);
  });
});

test('a lessee whose lease ends meanwhile finds no node', async () => {
  const uuid = await enrolled();
  const reply = await meanwhile(`update nodes set lessee = null where uuid = '${uuid}'`, () =>
    changes['PATCH of a lessee'](uuid),
  );
  expect(reply.status).toBe(404);
});

test('an owner whose node is handed on meanwhile finds no node, and puts none into maintenance', async () => {
  const uuid = await enrolled();
  const before = await recorded(uuid);
  const reply = await meanwhile(`update nodes set owner = 'project-next' where uuid = '${uuid}'`, () =>
    api.as('owner-admin', 'PUT', `/v1/nodes/${uuid}/maintenance`, { body: { reason: 'fan' } }),
  );
  expect(reply.status).toBe(404);
  expect(await api.sql`select maintenance from nodes where uuid = ${uuid}`).toEqual([{ maintenance: false }]);
  expect(await recorded(uuid)).toEqual(before);
});

test('a node that a run takes meanwhile is not deleted', async () => {
  const uuid = await enrolled();
  const held = `update nodes set reservation = gen_random_uuid() where uuid = '${uuid}'`;
  expect((await meanwhile(held, () => changes.DELETE(uuid))).status).toBe(409);
  expect(await api.sql`select 1 from nodes where uuid = ${uuid}`).toHaveLength(1);
});

describe.each([
  ['audit', 'action'],
  ['events', 'kind'],
])('where the row in %s cannot be written', (table, column) => {
  const failing = async (code: string, ask: () => Promise<Reply>): Promise<Reply> => {
    await api.sql.unsafe(`
      create or replace function refuse_row() returns trigger language plpgsql
        as $$ begin raise exception 'refused' using errcode = '${code}'; end $$;
      create trigger a_refuses before insert on ${table} for each row
        when (new.${column} like 'node.%') execute function refuse_row()`);
    try {
      return await ask();
    } finally {
      await api.sql.unsafe(`drop trigger a_refuses on ${table}`);
    }
  };
  const everything = () => api.sql`
    select (select jsonb_agg(to_jsonb(n) order by id) from nodes n) as nodes, (select count(*) from secrets) as secrets,
      (select count(*) from audit where action like 'node.%') as audit, (select count(*) from events) as events`;
  const create = () =>
    api.as('operator', 'POST', '/v1/nodes', {
      body: { driver: 'fake-hardware', driver_info: { fake_password: 'p' } },
    });
  const reseal = (uuid: string) =>
    api.as('operator', 'PATCH', `/v1/nodes/${uuid}`, {
      body: [{ op: 'add', path: '/driver_info/fake_password', value: 'q' }],
    });

  // No room on the disk, and a fault of ours: not the caller's, whatever class PostgreSQL puts it in.
  test.each([
    ['53100', 503],
    ['23514', 500],
    ['22003', 500],
    ['23505', 500],
    ['23503', 500],
  ] as const)('for %s, nothing of the change is there, and the answer is %i', async (code, status) => {
    const uuid = await enrolled();
    const before = await everything();
    for (const ask of [create, () => reseal(uuid), ...Object.values(changes).map((change) => () => change(uuid))])
      expect((await failing(code, ask)).status).toBe(status);
    expect(await everything()).toEqual(before);
  });
});
