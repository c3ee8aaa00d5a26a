/** What a repeat is answered whose first request was cut off after its work, where that is a status alone. */
import type { Route } from '../../src/api';
import { cutOffAnswer } from '../../src/api/http/idempotency-cut-off';

const statusOf = async (answers: object | undefined) => {
  const route = { method: 'PUT', path: '/v1/nodes/:node_ident/maintenance', answers } as unknown as Route;
  const asked = { route, asking: { params: { node_ident: 'n1' }, base: 'http://x' } };
  return (await cutOffAnswer({ action: null, run_id: null } as never, asked as never, {} as never, [])).status;
};

test.each([
  ['202 without a body', { 202: null }, 202],
  ['204 without a body', { 204: null }, 204],
  ['204 without a body, or 202 with one', { 202: { a: 1 }, 204: null }, 204],
  ['200 without a body', { 200: null }, 202],
  ['204 with a body', { 204: { a: 1 } }, 202],
  ['a body alone', { 200: { a: 1 } }, 202],
  ['nothing that is known', undefined, 202],
])('a route that answers %s', async (_what, answers, status) => {
  expect(await statusOf(answers)).toBe(status);
});
