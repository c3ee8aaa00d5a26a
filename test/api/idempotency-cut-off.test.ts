/** What a repeat is answered whose first request was cut off after its work, where that is a status alone. */
import { type Route, routes } from '../../src/api';
import { cutOffAnswer } from '../../src/api/idempotency/cut-off';

const freezes = '/temper/v1/nodes/:node_ident/freezes';
const creation = { method: 'POST', path: freezes, madeIn: '/temper/v1/freezes' };

/** The answer to a creation below a node, where these routes show what was made. */
const createdAnswer = (routes: readonly unknown[], answers?: object) =>
  cutOffAnswer(
    { action: 'freeze.create', resource_id: 'f1', run_id: null } as never,
    { route: { ...creation, answers }, request: { params: { node_ident: 'n1' }, base: 'http://x' } } as never,
    {} as never,
    routes as Route[],
  );
const show = (handler: (request: { params: object }) => Promise<object>, path = '/temper/v1/freezes/:freeze') => ({
  method: 'GET',
  path,
  handler,
});
const wrong = async () => ({ body: 'another route' });
const Location = 'http://x/temper/v1/freezes/f1';

test('what was made below a node is shown by the one route of its collection that shows it', async () => {
  const routes = [
    { ...show(wrong), method: 'DELETE' },
    show(wrong, `${freezes}/:freeze`),
    show(wrong, '/temper/v1/freezes'),
    show(wrong, '/temper/v1/freezes/:freeze/history'),
    show(async ({ params }) => ({ body: params })),
  ];
  expect(await createdAnswer(routes)).toEqual({ status: 201, headers: { Location }, body: { freeze: 'f1' } });
});

test('what is shown as a text is repeated as one, and what no route shows is answered by its address', async () => {
  const text = await createdAnswer([show(async () => ({ text: 'made' }))]);
  expect(text).toEqual({ status: 201, headers: { Location }, text: 'made' });
  expect(await createdAnswer([])).toEqual({ status: 201, headers: { Location } });
});

test('what a creation answers in another shape than it is shown in is answered by its address', async () => {
  const [one, other] = [{}, {}];
  const shown = { ...show(async () => ({ body: 'whole' })), answers: { 200: one } };
  expect(await createdAnswer([shown], { 201: other })).toEqual({ status: 201, headers: { Location } });
  expect(await createdAnswer([shown], { 201: one })).toMatchObject({ body: 'whole' });
});

test('a request that makes nothing is not answered as a creation, though its record names a resource', async () => {
  const asked = { route: { method: 'POST', path: freezes, answers: { 204: null } }, request: { base: 'http://x' } };
  const row = { action: 'media.insert', resource_id: 'n1', run_id: null };
  expect(await cutOffAnswer(row as never, asked as never, {} as never, [])).toMatchObject({ status: 204 });
});

test('whatever is made is shown somewhere, below the path of its creation or where that says', () => {
  const creations = routes.filter(({ method, answers }) => method === 'POST' && (!answers || 201 in answers));
  const shownIn = (collection: string) =>
    routes.filter(({ method, path }) => method === 'GET' && new RegExp(`^${collection}/:[^/]+$`).test(path)).length;
  expect(creations.length).toBeGreaterThan(15);
  expect(creations.flatMap(({ path, madeIn = path }) => (shownIn(madeIn) === 1 ? [] : [path]))).toEqual([]);
});

test('a failure of ours while it is shown is not taken for a resource that is gone', async () => {
  const failing = show(async () => {
    throw new Error('surprise');
  });
  await expect(createdAnswer([failing])).rejects.toThrow('surprise');
});

test('what was made in a collection of its own is found there, however deep it lies', async () => {
  const asked = { route: { method: 'POST', path: '/v1/volume/targets' }, request: { base: 'http://x' } };
  const row = { action: 'volume_target.create', resource_id: 't1', run_id: null };
  expect(await cutOffAnswer(row as never, asked as never, {} as never, [])).toEqual({
    status: 201,
    headers: { Location: 'http://x/v1/volume/targets/t1' },
  });
});

test.each([
  ['/temper/v1/runs/:run/rerun', { status: 202, body: { run: 'r1' } }],
  ['/v1/nodes/:node_ident/states/provision', { status: 202, headers: { Location: 'http://x/v1/nodes/n%201/states' } }],
  ['/v1/nodes/:node_ident/states/power', { status: 202, headers: { Location: 'http://x/v1/nodes/n%201/states' } }],
  ['/v1/nodes/:node_ident/states/power/history', { status: 202, headers: {} }],
  ['/v1/nodes/:node_ident/maintenance', { status: 202, headers: {} }],
])('a request to %s that began a run says where it is seen', async (path, answer) => {
  const asked = { route: { method: 'PUT', path }, request: { params: { node_ident: 'n 1' }, base: 'http://x' } };
  const row = { action: null, run_id: 'r1' };
  expect(await cutOffAnswer(row as never, asked as never, {} as never, [])).toEqual(answer);
});

const statusOf = async (answers: object | undefined) => {
  const route = { method: 'PUT', path: '/v1/nodes/:node_ident/maintenance', answers } as unknown as Route;
  const asked = { route, request: { params: { node_ident: 'n1' }, base: 'http://x' } };
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
