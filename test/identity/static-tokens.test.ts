/** Fixed tokens: who gets in, who does not, and what broken files say. */
import { createIdentity, createStaticTokens } from '../../src/identity';
import { sha256Of } from '../../src/model/digests';
import { clock, faultOf, presenting, textSource } from './support';

const text = `
tokens:
  - { user: ci, token: clear-token-0123456789, roles: [member], project: p1 }
  - { user: ops, sha256: ${sha256Of('hashed-token-0123456789').toUpperCase()}, roles: [admin], system: all }
`;
const started = () => createStaticTokens({ tokens: textSource(text) });

test.each([
  [
    'in clear',
    'clear-token-0123456789',
    { user_id: 'ci', project_id: 'p1', roles: ['member', 'reader'], system_scope: null },
  ],
  ['as a hash', 'hashed-token-0123456789', { user_id: 'ops', project_id: null, system_scope: 'all' }],
])('a token that the file has %s is its holder', async (_, token, caller) => {
  const verdict = await (await started()).identify(presenting({ token }));
  expect(verdict).toMatchObject({ is: 'known', caller: { ...caller, strategy: 'static_tokens', all_powerful: false } });
});

test.each([
  ['an unknown token', 'clear-token-0123456780'],
  ['the beginning of a token', 'clear-token'],
  ['a token in another case', 'CLEAR-TOKEN-0123456789'],
  ['the hash in place of its token', sha256Of('hashed-token-0123456789')],
  ['the token that Python clients make up', 'notused'],
])('%s is refused', async (_, token) => {
  const verdict = await (await started()).identify(presenting({ token }));
  expect(verdict.is).toBe('refused');
  expect(JSON.stringify(verdict)).not.toContain(token);
});

test('a request without a token presents nothing to it, a service token alone neither', async () => {
  const strategy = await started();
  expect(await strategy.identify(presenting({ serviceToken: 'clear-token-0123456789' }))).toEqual({ is: 'absent' });
  expect(await faultOf(createIdentity([strategy]).identify(presenting({})))).toMatchObject({
    code: 'Unauthenticated',
    facts: { challenge: 'Token realm="Baremetal API"' },
  });
});

test('a token taken out of the file stops working', async () => {
  const now = clock();
  const tokens = textSource(text);
  const strategy = await createStaticTokens({ tokens, now });
  tokens.write('tokens: [{ user: x, token: another-token-012345, roles: [reader], project: p }]');
  now.pass(2_000);
  expect((await strategy.identify(presenting({ token: 'clear-token-0123456789' }))).is).toBe('refused');
});

describe('a users file beside it', () => {
  const bare =
    'tokens:\n  - { user: ci, token: clear-token-0123456789 }\n  - { user: lost, token: other-token-0123456789 }';
  const users = 'users:\n  ci: { roles: [manager], project: p9, project_name: nine, domain: d }';

  test('says what a holder is whose entry does not', async () => {
    const strategy = await createStaticTokens({ tokens: textSource(bare), users: textSource(users) });
    expect(await strategy.identify(presenting({ token: 'clear-token-0123456789' }))).toMatchObject({
      is: 'known',
      caller: { user_id: 'ci', roles: ['manager', 'member', 'reader'], project_id: 'p9', project_domain_id: 'd' },
    });
  });

  test('does not outweigh an entry that says it itself', async () => {
    const strategy = await createStaticTokens({ tokens: textSource(text), users: textSource(users) });
    const verdict = await strategy.identify(presenting({ token: 'clear-token-0123456789' }));
    expect(verdict).toMatchObject({ is: 'known', caller: { roles: ['member', 'reader'], project_id: 'p1' } });
  });

  test('is read again when it changes', async () => {
    const now = clock();
    const source = textSource(users);
    const strategy = await createStaticTokens({ tokens: textSource(bare), users: source, now });
    source.write('users:\n  ci: { roles: [reader], system: all }');
    now.pass(2_000);
    const verdict = await strategy.identify(presenting({ token: 'clear-token-0123456789' }));
    expect(verdict).toMatchObject({
      is: 'known',
      caller: { roles: ['reader'], system_scope: 'all', project_id: null },
    });
  });

  test.each([
    ['it does not name the user', 'other-token-0123456789', users],
    ['there is none', 'clear-token-0123456789', undefined],
  ])('lets no caller in when %s', async (_, token, given) => {
    const file = given === undefined ? undefined : textSource(given);
    const strategy = await createStaticTokens({ tokens: textSource(bare), users: file });
    expect(await strategy.identify(presenting({ token }))).toMatchObject({
      is: 'refused',
      reason: expect.stringContaining('users file'),
    });
  });
});

test.each([
  ['is a list', '- hunter2hunter2hunter2', /the file: /],
  ['names no user', 'tokens: []', /name at least one token/],
  [
    'has a short token',
    'tokens:\n  - { user: a, token: hunter2, roles: [r], project: p }',
    /line 2, tokens\.0\.token: .*16/,
  ],
  [
    'has a hash that is none',
    'tokens:\n  - { user: a, sha256: hunter2, roles: [r], project: p }',
    /tokens\.0\.sha256: give/,
  ],
  [
    'has a token and a hash',
    `tokens:\n  - { user: a, token: hunter2hunter2hunter2, sha256: ${'a'.repeat(64)}, roles: [r], project: p }`,
    /either "token" or "sha256"/,
  ],
  ['has neither', 'tokens:\n  - { user: a, roles: [r], project: p }', /either "token" or "sha256"/],
  [
    'has a scope without roles',
    'tokens:\n  - { user: a, token: hunter2hunter2hunter2, system: all }',
    /tokens\.0: give either "project.*or neither/,
  ],
  [
    'has no scope',
    'tokens:\n  - { user: a, token: hunter2hunter2hunter2, roles: [r] }',
    /tokens\.0: give either "project/,
  ],
  [
    'gives two users one token',
    `tokens:\n  - { user: a, token: hunter2hunter2hunter2, roles: [r], project: p }\n  - { user: b, sha256: ${sha256Of('hunter2hunter2hunter2')}, roles: [r], project: p }`,
    /tokens\.1: user b has the same token as user a/,
  ],
  ['is not YAML', 'tokens:\n  - { user: hunter2hunter2hunter2', /line \d+ is not valid YAML/],
])('a tokens file that %s is refused at start, without showing a token', async (_, broken, says) => {
  const fault = await faultOf(createStaticTokens({ tokens: textSource(broken) }));
  expect(fault.code).toBe('IdentityFileInvalid');
  expect(fault.message).toMatch(says);
  expect(fault.message).not.toContain('hunter2');
});
