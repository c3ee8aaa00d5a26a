/** A request that finds its node held: how long it waits, and what it answers then. */
import { startTestApi, type TestApi } from '../support/api';

const holder = '3f1b7a52-8a4e-4c2a-9a56-0d6a6d0c1f11';

describe.each([
  ['where requests wait', 20_000],
  ['where they do not', 0],
] as const)('%s', (_, lockWaitMs) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ settings: { lockWaitMs } });
  });
  afterAll(() => api.close());

  const heldNode = async (): Promise<string> => {
    const { body } = await api.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } });
    await api.sql`update nodes set reservation = ${holder} where uuid = ${body.uuid}`;
    return body.uuid;
  };
  const setTraits = (uuid: string) =>
    api.as('operator', 'PUT', `/v1/nodes/${uuid}/traits`, { body: { traits: ['CUSTOM_A'] } });

  if (lockWaitMs)
    test('a change goes through once the node is free', async () => {
      const uuid = await heldNode();
      const asked = setTraits(uuid);
      const first = await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 200, 'waits'))]);
      expect(first).toBe('waits');
      await api.sql`update nodes set reservation = null where uuid = ${uuid}`;
      expect((await asked).status).toBe(204);
      expect(await api.sql`select traits from nodes where uuid = ${uuid}`).toEqual([{ traits: ['CUSTOM_A'] }]);
    });
  else
    test('a change of a node that is held is refused with 409, and changes nothing', async () => {
      const uuid = await heldNode();
      expect((await setTraits(uuid)).status).toBe(409);
      expect(await api.sql`select traits from nodes where uuid = ${uuid}`).toEqual([{ traits: [] }]);
    });
});

test('who waits in vain gets 409 when the time is over, and one row in the audit trail', async () => {
  const api = await startTestApi({ settings: { lockWaitMs: 300 } });
  try {
    const { body } = await api.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } });
    await api.sql`update nodes set reservation = ${holder} where uuid = ${body.uuid}`;
    const path = `/v1/nodes/${body.uuid}/traits`;
    const begun = Date.now();
    const reply = await api.as('operator', 'PUT', path, { body: { traits: ['CUSTOM_A'] } });
    expect(reply.status).toBe(409);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(50);
    const rows = await api.sql`select verdict, code from audit where action = 'PUT /v1/nodes/:node_ident/traits'`;
    expect(rows).toEqual([{ verdict: 'failed', code: 'NodeLocked' }]);
  } finally {
    await api.close();
  }
});
