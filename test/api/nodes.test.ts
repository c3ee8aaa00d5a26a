/** Nodes: enrolment, lists, one node, and their removal. */
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from nodes`;
});

test('an operator enrols a node and sees it as it was given', async () => {
  const made = await api.as('operator', 'POST', '/v1/nodes', {
    body: {
      name: 'n1',
      driver: 'redfish',
      owner,
      lessee,
      driver_info: { redfish_address: 'https://bmc.example.org', redfish_password: 'hunter2' },
    },
  });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  expect(made.body).toMatchObject({ name: 'n1', provision_state: 'enroll', conductor: 'worker-1' });
  const list = await api.as('operator', 'GET', '/v1/nodes');
  expect(list.body.nodes).toHaveLength(1);
  expect(faultOf(await api.as('stranger-admin', 'GET', '/v1/nodes/n1'))).toBe('Node n1 could not be found.');
});
