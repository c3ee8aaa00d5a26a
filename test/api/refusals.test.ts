/** What a refusal says: what came, and what is allowed instead. */
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
  await api.as('operator', 'POST', '/v1/nodes', { body: { name: 'n1', driver: 'fake-hardware' } });
});
afterAll(() => api.close());

test.each([
  ['/v1/nodes?limit=0', 'limit: must be a whole number of at least 1; 0 came'],
  ['/v1/nodes?limit=-3', 'limit: must be a whole number of at least 1; -3 came'],
  ['/v1/nodes?limit=ten', 'limit: must be a whole number of at least 1; "ten" came'],
  ['/v1/nodes?sort_dir=up', 'sort_dir: must be one of asc, desc; "up" came'],
  ['/v1/nodes?sort_key=colour', /^sort_key: "colour" came; sort keys are: id, uuid, name, .*provision_state/],
  ['/v1/ports?sort_key=extra', /^sort_key: "extra" came; sort keys are: id, uuid, address, /],
  ['/v1/nodes?provision_state=asleep', /^provision_state: must be one of enroll, .*, service hold; "asleep" came$/],
  ['/v1/nodes?associated=perhaps', 'associated: must be true or false; "perhaps" came'],
  ['/v1/nodes?fields=', 'fields: must name at least one field; leave it out for all of them; "" came'],
  ['/v1/nodes/n1?fields=', 'fields: must name at least one field; leave it out for all of them; "" came'],
  ['/v1/drivers?fields=,', 'fields: must name at least one field; leave it out for all of them; "," came'],
  ['/v1/nodes?lessee=%00', 'lessee: holds a NUL character or half a surrogate pair; leave it out'],
])('GET %s', async (path, says) => {
  const reply = await api.as('operator', 'GET', path);
  expect([reply.status, faultOf(reply)]).toEqual([400, typeof says === 'string' ? says : expect.stringMatching(says)]);
});

test('sort keys of a later version are not offered', async () => {
  expect(faultOf(await api.as('operator', 'GET', '/v1/nodes?sort_key=colour', { minor: 64 }))).not.toContain('lessee');
  expect(faultOf(await api.as('operator', 'GET', '/v1/nodes?sort_key=colour', { minor: 65 }))).toContain('lessee');
});

test.each([
  [
    'POST',
    '/v1/nodes',
    { driver: 'nope' },
    'driver: no driver nope is enabled here; enabled are: redfish, ipmi, fake-hardware, idrac, ilo, ilo5',
  ],
  ['PUT', '/v1/nodes/n1/states/provision', { target: 'sleep' }, /^target: must be one of manage, .*; "sleep" came$/],
  ['PUT', '/v1/nodes/n1/states/power', { target: 'sleep' }, /^target: must be one of power on, .*; "sleep" came$/],
  [
    'PATCH',
    '/v1/nodes/n1',
    [{ op: 'move', path: '/extra' }],
    'operation 1: op: must be add, replace or remove; "move" came',
  ],
  ['PATCH', '/v1/nodes/n1', [{ path: '/extra' }], 'operation 1: op: must be one of add, replace, remove'],
  ['PATCH', '/v1/nodes/n1', [{ op: 'remove', path: '/extra' }, { op: 'remove' }], 'operation 2: path: is missing'],
  ['PATCH', '/v1/nodes/n1', [7], /^operation 1: /],
  [
    'PATCH',
    '/v1/nodes/n1',
    [{ op: 'add', path: '/extra/a~1b', value: 1 }],
    /letters, digits, "_" and "-" only, as the Bare Metal API has it; "\/extra\/a~1b" came\. .*replace the whole attribute/,
  ],
] as const)('%s %s %j', async (method, path, body, says) => {
  const reply = await api.as('operator', method, path, { body });
  expect([reply.status, faultOf(reply)]).toEqual([400, typeof says === 'string' ? says : expect.stringMatching(says)]);
});

test('a key with a slash is written with the attribute that holds it, as the refusal says', async () => {
  const body = [{ op: 'replace', path: '/extra', value: { 'a/b': 1 } }];
  expect((await api.as('operator', 'PATCH', '/v1/nodes/n1', { body })).body.extra).toEqual({ 'a/b': 1 });
});

test('what a body holds is not quoted where it may be a secret', async () => {
  for (const body of [
    { driver: 'redfish', driver_info: 'hunter2' },
    { driver: 'redfish', extra: 'hunter2' },
  ]) {
    const reply = await api.as('operator', 'POST', '/v1/nodes', { body });
    expect(reply.status).toBe(400);
    expect(reply.text).not.toContain('hunter2');
  }
});

describe('the order of a step', () => {
  const step = (order: unknown) => ({ interface: 'power', step: 'reboot', order });
  const refused = [-1, 1.5, 1_000_000_000, '1000000000', 'first', '-1'];

  test.each(refused)('%j is refused in a runbook and in a request alike', async (order) => {
    const says = 'order: must be a whole number from 0 to 999999999';
    const runbook = await api.as('operator', 'POST', '/v1/runbooks', {
      body: { name: 'CUSTOM_X', steps: [step(order)] },
    });
    expect([runbook.status, faultOf(runbook)]).toEqual([400, `steps.0.${says}`]);
    const request = await api.as('operator', 'PUT', '/v1/nodes/n1/states/provision', {
      body: { target: 'clean', clean_steps: [step(order)] },
    });
    expect([request.status, faultOf(request)]).toEqual([400, `clean_steps.0.${says}`]);
  });
});
