/** The rack counts how its BMCs are treated, and fails by chance where asked to. */
import type { Rack } from '../../emulator/rack';
import { countTraffic } from '../../emulator/rack/traffic';
import { clientOf, testRack } from './rack-client';

const get = (now: number) => ({ method: 'GET', path: '/redfish/v1', now });
const patch = (now: number) => ({ method: 'PATCH', path: '/redfish/v1/Systems/1', now });

test('requests count as under way until they are answered', () => {
  const counter = countTraffic();
  const answered = counter.arrives(get(0));
  counter.arrives(get(1))();
  answered();
  counter.arrives(get(2))();
  expect(counter.look()).toMatchObject({ requests: 3, most_at_once: 2, most_beside_a_write: 0 });
});

test('a read that comes while a write is under way is distinguished from two reads', () => {
  const counter = countTraffic();
  const written = counter.arrives(patch(0));
  written();
  expect(counter.look().most_beside_a_write).toBe(1);
  counter.arrives(get(1));
  counter.arrives(patch(2));
  expect(counter.look().most_beside_a_write).toBe(2);
});

test('the busiest second is any second, not one of the clock', () => {
  const counter = countTraffic();
  for (const at of [0, 900, 1_000, 1_100, 1_899, 2_500]) counter.arrives(get(at))();
  expect(counter.look().most_in_a_second).toBe(4);
});

test('logouts do not count, logins do', () => {
  const counter = countTraffic();
  const path = '/redfish/v1/SessionService/Sessions';
  counter.arrives({ method: 'POST', path, now: 0 });
  counter.arrives({ method: 'DELETE', path: `${path}/1`, now: 0 });
  expect(counter.look()).toMatchObject({ requests: 1, most_at_once: 1 });
});

describe('a rack', () => {
  let rack: Rack;
  beforeEach(async () => {
    rack = await testRack({ bmcs: 2, profiles: ['openbmc'] });
  });
  afterEach(() => rack.close());

  test('tells of each BMC how it was treated, at its control door too', async () => {
    const client = clientOf(rack.bmcs[1]!);
    const before = rack.traffic()[1]!.requests;
    await client.get('/redfish/v1');
    expect(rack.traffic()[1]!.requests).toBe(before + 1);
    expect(rack.traffic()[0]!.requests).toBe(0);
    const { bmcs } = (await (await fetch(`${rack.controlUrl}/control/traffic`)).json()) as { bmcs: unknown[] };
    expect(bmcs).toEqual(rack.traffic());
  });

  test('fails a share of the requests: all for 1, and none for almost nothing', async () => {
    const client = clientOf(rack.bmcs[0]!);
    rack.fault(0, { kind: 'http-503', share: Number.EPSILON, seconds: 600 });
    expect((await client.get('/redfish/v1')).status).toBe(200);
    rack.fault(0, { kind: 'http-500', share: 1, seconds: 600 });
    expect((await client.get('/redfish/v1')).status).toBe(500);
    expect(() => rack.fault(0, { kind: 'http-500', share: 2 })).toThrow(/share/);
  });
});
