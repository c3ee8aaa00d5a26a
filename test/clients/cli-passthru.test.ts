/** Methods of vendors' own, typed into the real `baremetal` client and carried to a BMC by the worker of its group. */
import type { Person } from '../../demo/system';
import { type Cli, cliOf, refusal } from '../e2e/support/cli';
import { acceptedSince, commandOf, journalNow, lease, manageable, projects } from '../e2e/support/nodes';
import { type System, startSystem } from '../e2e/support/system';

let system: System;
let operator: Person;
let cli: Cli;
let node: string;

beforeAll(async () => {
  system = await startSystem(2);
  operator = await system.person('operator');
  cli = cliOf(system);
  [node] = (await manageable(system, operator, 1)) as [string];
});
afterAll(() => system?.stop());

const passthru = (method: string, body?: unknown, query = '') =>
  operator.ask(body === undefined ? 'GET' : 'POST', `/v1/nodes/${node}/vendor_passthru?method=${method}${query}`, body);

test('an operator lists the methods of a node, and those of a driver', async () => {
  const listed = await cli.json('operator', 'node', 'passthru', 'list', node);
  expect(listed.map((row: Record<string, unknown>) => Object.values(row)[0]).sort()).toEqual([
    'create_subscription',
    'delete_subscription',
    'eject_vmedia',
    'get_all_subscriptions',
    'get_subscription',
  ]);
  expect(await cli.json('operator', 'driver', 'passthru', 'list', 'redfish')).toEqual([]);
});

test('an operator has a BMC tell of its events, sees that it does, and ends it', async () => {
  const before = await journalNow(system, node);
  const call = ['node', 'passthru', 'call', node];
  const where = 'Destination=https://events.example.org/temper';
  await cli.does(
    'operator',
    ...call,
    'create_subscription',
    '--http-method',
    'POST',
    '--arg',
    where,
    '--arg',
    'Context=here',
  );
  const all = (await passthru('get_all_subscriptions')).body as { Members: { '@odata.id': string }[] };
  expect(all.Members).toHaveLength(1);
  const id = all.Members[0]!['@odata.id'].split('/').at(-1);
  expect((await passthru('get_subscription', undefined, `&id=${id}`)).body).toEqual({
    Id: id,
    Context: 'here',
    Protocol: 'Redfish',
    Destination: 'https://events.example.org/temper',
    EventTypes: ['Alert'],
  });
  const gone = await operator.ask('DELETE', `/v1/nodes/${node}/vendor_passthru?method=delete_subscription`, { id });
  expect(gone.status).toBe(200);
  expect((await acceptedSince(system, node, before)).map(commandOf)).toEqual([
    expect.stringContaining('Subscriptions'),
    expect.stringContaining('DELETE'),
  ]);
  const again = await operator.ask('DELETE', `/v1/nodes/${node}/vendor_passthru?method=delete_subscription`, { id });
  expect(again.status).toBe(404);
});

test('the runs of it are recorded, without what the receiver knows the BMC by', async () => {
  const reply = await passthru('create_subscription', {
    Destination: 'https://events.example.org/secret',
    HttpHeaders: [{ 'X-Key': 'hunter2-of-the-receiver' }],
  });
  expect(reply.status).toBe(200);
  const runs = await operator.ask('GET', `/temper/v1/nodes/${node}/runs`);
  expect(JSON.stringify(runs.body)).not.toContain('hunter2');
  expect(runs.body.runs.length).toBeGreaterThan(0);
});

test('no other caller may, not even the owner', async () => {
  await lease(operator, node, { owner: projects['owner-project'] });
  expect(await cli('owner-manager', 'node', 'passthru', 'list', node)).toEqual(
    refusal(403, 'baremetal:node:vendor_passthru'),
  );
});
