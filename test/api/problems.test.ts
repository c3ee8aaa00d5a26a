/** Refusals below /temper/v1 as problem details (RFC 9457), for clients that prefer them. */
import { faultOf, startTestApi, type TestApi } from '../support/api';

const problem = 'application/problem+json';
const missing = '/temper/v1/runs/5e2b7a0c-0000-4000-8000-000000000000';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const refused = (path: string, accept: string) => api.as('operator', 'GET', path, { headers: { Accept: accept } });

test('a client that prefers problem details gets them, with the code and the id of the request', async () => {
  const reply = await refused(missing, problem);
  expect(reply.headers.get('content-type')).toBe(problem);
  expect(reply.headers.get('vary')).toMatch(/, Accept$/);
  expect(JSON.parse(reply.text)).toEqual({
    type: 'urn:temper:error:RunNotFound',
    title: 'Not Found',
    status: 404,
    detail: expect.stringContaining('5e2b7a0c-0000-4000-8000-000000000000'),
    code: 'RunNotFound',
    request_id: reply.headers.get('x-openstack-request-id'),
  });
});

test.each([`${problem}, application/json;q=0.9`, `application/json;q=0.5, ${problem}`])(
  'Accept: %s',
  async (accept) => {
    expect((await refused(missing, accept)).headers.get('content-type')).toBe(problem);
  },
);

test.each(['*/*', 'application/json', `application/json, ${problem}`, 'text/html', `${problem};q=0.1, */*`])(
  'Accept: %s keeps the form of Ironic',
  async (accept) => {
    const reply = await refused(missing, accept);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/json']);
    expect(faultOf(reply)).toContain('5e2b7a0c-0000-4000-8000-000000000000');
  },
);

test('paths of Ironic have one form', async () => {
  const reply = await refused('/v1/nodes/none', problem);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/json']);
  expect(reply.headers.get('vary')).not.toMatch(/Accept/);
});

test('a refusal without a login keeps its challenge', async () => {
  const reply = await api.as(null, 'GET', '/temper/v1/runs', { headers: { Accept: problem } });
  expect([reply.status, reply.headers.get('content-type')]).toEqual([401, problem]);
  expect(reply.headers.get('www-authenticate')).not.toBeNull();
  expect(JSON.parse(reply.text)).toMatchObject({ code: 'Unauthenticated', status: 401 });
});
