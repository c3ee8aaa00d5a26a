/** Which strategy decides, and what becomes of a verdict. */
import { createIdentity, createNoauth, presentedFrom, type Strategy, type Verdict } from '../../src/identity';
import { anonymous } from '../../src/model/access/callers';
import { faultOf, presenting } from './support';

const saying = (name: Strategy['name'], reads: Strategy['reads'], verdict: Verdict) => {
  const identify = jest.fn(async () => verdict);
  return { name, reads, challenge: `${name}!`, identify } satisfies Strategy;
};
const known = (name: string): Verdict => ({ is: 'known', caller: { ...anonymous, user_name: name } });
const absent: Verdict = { is: 'absent' };
const refused: Verdict = { is: 'refused', reason: 'wrong' };
const down: Verdict = { is: 'unavailable', reason: 'silent' };

test('the first strategy that knows the caller decides, and later ones are not asked', async () => {
  const second = saying('static_tokens', 'token', known('second'));
  const identity = createIdentity([saying('keystone', 'token', known('first')), second]);
  expect((await identity.identify(presenting({}))).user_name).toBe('first');
  expect(second.identify).not.toHaveBeenCalled();
});

test('a strategy whose credential is absent leaves the decision to the next', async () => {
  const identity = createIdentity([
    saying('keystone', 'token', absent),
    saying('http_basic', 'authorization', known('b')),
  ]);
  expect((await identity.identify(presenting({}))).user_name).toBe('b');
});

test('a request without credentials is a 401 that asks for every kind there is', async () => {
  const identity = createIdentity([saying('keystone', 'token', absent), saying('http_basic', 'authorization', absent)]);
  const fault = await faultOf(identity.identify(presenting({})));
  expect(fault).toMatchObject({ code: 'Unauthenticated', status: 401, facts: { challenge: 'keystone!, http_basic!' } });
  expect(identity.challenge).toBe('keystone!, http_basic!');
  expect(identity.strategies).toEqual(['keystone', 'http_basic']);
});

test('a wrong credential is not passed over in favour of a right one of another kind', async () => {
  const other = saying('http_basic', 'authorization', known('b'));
  const identity = createIdentity([saying('keystone', 'token', refused), other]);
  expect(await faultOf(identity.identify(presenting({})))).toMatchObject({
    code: 'Unauthenticated',
    facts: { reason: 'wrong' },
  });
  expect(other.identify).not.toHaveBeenCalled();
});

test.each([
  // first    second          outcome
  [refused, known('t'), 'known'],
  [down, known('t'), 'known'],
  [refused, refused, 'Unauthenticated'],
  [down, refused, 'IdentityUnavailable'],
  [refused, down, 'IdentityUnavailable'],
  [refused, absent, 'Unauthenticated'],
] as const)(
  'two strategies that judge the same token, one says %j, the other %j: %s',
  async (first, second, outcome) => {
    const identity = createIdentity([saying('keystone', 'token', first), saying('static_tokens', 'token', second)]);
    const work = identity.identify(presenting({ token: 't' }));
    if (outcome === 'known') expect((await work).user_name).toBe('t');
    else expect((await faultOf(work)).code).toBe(outcome);
  },
);

test('an identity service that does not answer is a 503, with what it said kept for the log', async () => {
  const identity = createIdentity([saying('keystone', 'token', down)]);
  const fault = await faultOf(identity.identify(presenting({ token: 't' })));
  expect(fault).toMatchObject({ code: 'IdentityUnavailable', status: 503, facts: { reason: 'silent' } });
});

test('noauth takes every caller for the all-powerful operator, also with the token that Python clients make up', async () => {
  const identity = createIdentity([createNoauth()]);
  for (const presented of [presenting({}), presenting({ token: 'notused' }), presenting({ authorization: 'Basic ?' })])
    expect(await identity.identify(presented)).toMatchObject({
      all_powerful: true,
      system_scope: 'all',
      project_id: null,
      roles: ['admin', 'manager', 'member', 'reader'],
      strategy: 'noauth',
    });
});

test.each([
  [[], 'at least one'],
  [[createNoauth(), saying('http_basic', 'authorization', refused)], 'noauth admits every request'],
  [[saying('keystone', 'token', absent), saying('keystone', 'token', absent)], 'once'],
])('strategies that make no sense together are refused at start (%#)', (strategies, says) => {
  expect(() => createIdentity(strategies)).toThrow(says);
});

test('only the three credential headers of a request are looked at', () => {
  const headers = {
    'x-auth-token': ' t ',
    'x-service-token': '',
    authorization: ['Basic a', 'Basic b'],
    'x-roles': 'admin',
    'x-project-id': 'p',
    'openstack-system-scope': 'all',
    'x-service-roles': 'service',
    'x-identity-status': 'Confirmed',
  };
  expect(presentedFrom({ headers, method: 'PUT', path: '/v1' })).toEqual({
    token: 't',
    serviceToken: null,
    authorization: 'Basic a, Basic b',
    scope: null,
    method: 'PUT',
    path: '/v1',
  });
});

test('several lines of one credential are judged together, also those that node does not show at first', () => {
  const lines = { 'x-auth-token': ['a', 'b'], authorization: ['Basic YTpi', 'Basic Yzpk'] };
  const headers = { 'x-auth-token': 'a, b', authorization: 'Basic YTpi' };
  expect(presentedFrom({ headers, headersDistinct: lines, method: 'GET', path: '/' })).toMatchObject({
    token: 'a, b',
    authorization: 'Basic YTpi, Basic Yzpk',
  });
});

test('closing identity closes its strategies', async () => {
  const close = jest.fn(async () => {});
  await createIdentity([{ ...saying('keystone', 'token', absent), close }, createNoauthLike()]).close();
  expect(close).toHaveBeenCalledTimes(1);
});

const createNoauthLike = (): Strategy => saying('http_basic', 'authorization', absent);
