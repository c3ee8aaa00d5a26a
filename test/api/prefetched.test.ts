/** Plans of many nodes: what is read at once for all of them is what is read for each, and no query is made for each. */

import { prefetched } from '../../src/admission/prefetched';
import { planProvision } from '../../src/admission/preview';
import type { NodeRow } from '../../src/inventory/nodes/nodes';
import type { NodeUuid } from '../../src/model/ids';
import { maxMinor } from '../../src/model/resources/microversions';
import { startTestApi, type TestApi } from '../support/api';
import { counting } from '../support/counting';
import { owner, personas } from '../support/world';

let api: TestApi;
let nodes: NodeRow[];
beforeAll(async () => {
  api = await startTestApi();
  await api.sql`insert into workers (hostname, conductor_group, drivers, role) values ('w', '', ${['redfish']}, 'bmc')`;
  const rows = await api.sql<{ uuid: NodeUuid }[]>`
    insert into nodes (name, driver, provision_state, owner, traits, driver_info)
    select 'n' || i, 'redfish', 'manageable', ${owner}, ${['CUSTOM_FIT']}, ${api.sql.json({ redfish_address: 'https://192.0.2.7', deploy_iso: 'http://images.example.org/ipa.iso' })}
    from generate_series(1, 40) i returning uuid`;
  nodes = await Promise.all(rows.map(async ({ uuid }) => (await api.inventory.nodes.find({ uuid }))!));
  const steps = [
    { interface: 'power', step: 'reboot', order: 1 },
    { interface: 'deploy', step: 'own_step', order: 2 },
  ];
  expect(
    (await api.as('operator', 'POST', '/v1/runbooks', { body: { name: 'BOOK', steps, public: true } })).status,
  ).toBe(201);
  expect((await api.as('operator', 'PUT', '/v1/runbooks/BOOK/traits/CUSTOM_FIT')).status).toBe(204);
  for (const { uuid } of nodes.slice(0, 10))
    await api.inventory.details.report(uuid, [{ interface: 'deploy', step: 'own_step', priority: 0 }]);
  for (const { uuid } of nodes.slice(5, 15))
    expect(
      (await api.as('operator', 'POST', `/temper/v1/nodes/${uuid}/freezes`, { body: { reason: 'fans' } })).status,
    ).toBe(201);
});
afterAll(() => api?.close());

test('as one by one, with a number of queries that does not grow with the nodes', async () => {
  const asked = {
    who: personas['owner-member'],
    version: maxMinor,
    requestId: 'req-1',
    origin: {},
    body: { target: 'clean', runbook: 'BOOK' },
  };
  const { inventory, calls } = counting(api.inventory);
  const each = await Promise.all(nodes.map((node) => planProvision(api.rooms, asked, node, node.name!)));
  const ctx = await prefetched({ ...api.rooms, inventory }, nodes);
  const all = await Promise.all(nodes.map((node) => planProvision(ctx, asked, node, node.name!)));
  expect(all).toEqual(each);
  expect(new Set(all.map(({ refusals, concerns }) => `${refusals.length} ${concerns.length}`))).toEqual(
    new Set(['0 0', '0 1', '1 0', '1 1']),
  );
  expect(calls.length).toBeLessThanOrEqual(8);
});
