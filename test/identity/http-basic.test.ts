/** Basic authentication: who gets in, who does not, and what broken files say. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bcrypt from 'bcryptjs';
import { createHttpBasic, fileSource, readUsers } from '../../src/identity';
import { basic, clock, faultOf, presenting, textSource } from './support';

/** As `src` has it, so that a test can look on. */
const native: typeof import('@node-rs/bcrypt') = jest.requireActual('@node-rs/bcrypt');

const hash = (password: string): string => bcrypt.hashSync(password, 4);
const long = 'x'.repeat(72);
const htpasswdText = `# people\nann:${hash('secret:1')}\n\nops:${hash('ops')}\nlong:${hash(long)}\nlost:${hash('lost')}\n`;
const usersText = `
users:
  ann: { roles: [manager, tester], project: p1, project_name: one }
  ops: { roles: [admin], system: all }
  long: { roles: [reader], project: p1 }
  nopassword: { roles: [admin], system: all }
`;

const started = async (more: { now?: () => number; onFault?: (fault: unknown) => void } = {}) => {
  const htpasswd = textSource(htpasswdText);
  const users = textSource(usersText);
  return { htpasswd, users, strategy: await createHttpBasic({ htpasswd, users, ...more }) };
};

afterEach(() => jest.restoreAllMocks());

test('a right password gives the roles and the project of the users file, roles expanded', async () => {
  const { strategy } = await started();
  expect(await strategy.identify(basic('ann', 'secret:1'))).toMatchObject({
    is: 'known',
    caller: {
      user_id: 'ann',
      user_domain_id: 'default',
      project_id: 'p1',
      project_name: 'one',
      system_scope: null,
      roles: ['manager', 'member', 'reader', 'tester'],
      all_powerful: false,
      strategy: 'http_basic',
    },
  });
});

test('a user of the whole system has no project', async () => {
  const { strategy } = await started();
  expect(await strategy.identify(basic('ops', 'ops'))).toMatchObject({
    is: 'known',
    caller: {
      system_scope: 'all',
      project_id: null,
      project_name: null,
      roles: ['admin', 'manager', 'member', 'reader'],
    },
  });
});

test.each([
  ['a wrong password', 'ann', 'secret'],
  ['no password', 'ann', ''],
  ['the password of another', 'ann', 'ops'],
  ['an unknown user', 'eve', 'secret:1'],
  ['a user with roles but no password', 'nopassword', ''],
  ['a user with a password but no roles', 'lost', 'lost'],
  ['a password that only begins right', 'long', `${long}y`],
  ['a user of the name of a built-in', 'constructor', 'x'],
])('%s is refused', async (_, user, password) => {
  const { strategy } = await started();
  const verdict = await strategy.identify(basic(user, password));
  expect(verdict.is).toBe('refused');
  if (password) expect(JSON.stringify(verdict)).not.toContain(`"${password}"`);
});

test('a password of exactly the length that bcrypt reads is accepted', async () => {
  const { strategy } = await started();
  expect((await strategy.identify(basic('long', long))).is).toBe('known');
});

test.each([
  ['no header', null, 'absent'],
  ['a bearer token', 'Bearer abc', 'absent'],
  ['the scheme alone', 'Basic', 'refused'],
  ['something that is not base64', 'Basic ???', 'refused'],
  ['base64 without a colon', `Basic ${Buffer.from('ann').toString('base64')}`, 'refused'],
  ['an empty user', `Basic ${Buffer.from(':secret').toString('base64')}`, 'refused'],
  ['two headers in one', 'Basic YTpi, Basic YTpi', 'refused'],
  ['the scheme in lower case', `basic ${Buffer.from('ops:ops').toString('base64')}`, 'known'],
])('an Authorization of %s is %3$s', async (_, authorization, is) => {
  const { strategy } = await started();
  expect((await strategy.identify(presenting({ authorization }))).is).toBe(is);
});

test('a verified password is not hashed again for a minute, nor is the same wrong one for some seconds', async () => {
  const now = clock();
  const { strategy } = await started({ now });
  const compare = jest.spyOn(native, 'compare');
  for (const password of ['ops', 'ops', 'wrong', 'wrong']) await strategy.identify(basic('ops', password));
  expect(compare).toHaveBeenCalledTimes(2);
  now.pass(61_000);
  await strategy.identify(basic('ops', 'ops'));
  expect(compare).toHaveBeenCalledTimes(3);
});

test('requests that come together share one hashing', async () => {
  const { strategy } = await started();
  const compare = jest.spyOn(native, 'compare');
  const verdicts = await Promise.all([1, 2, 3].map(() => strategy.identify(basic('ops', 'ops'))));
  expect(verdicts.map(({ is }) => is)).toEqual(['known', 'known', 'known']);
  expect(compare).toHaveBeenCalledTimes(1);
});

test('an unknown user costs as much as a known one: a hash of the same cost is checked', async () => {
  const { strategy } = await started();
  const compare = jest.spyOn(native, 'compare');
  await strategy.identify(basic('eve', 'guess'));
  expect(compare).toHaveBeenCalledTimes(1);
  expect(bcrypt.getRounds(String(compare.mock.calls[0]?.[1]))).toBe(4);
});

test('a changed password file is obeyed at once, remembered passwords included', async () => {
  const now = clock();
  const { strategy, htpasswd } = await started({ now });
  expect((await strategy.identify(basic('ops', 'ops'))).is).toBe('known');
  htpasswd.write(`ops:${hash('new')}\n`);
  now.pass(2_000);
  expect((await strategy.identify(basic('ops', 'ops'))).is).toBe('refused');
  expect((await strategy.identify(basic('ops', 'new'))).is).toBe('known');
  expect((await strategy.identify(basic('ann', 'secret:1'))).is).toBe('refused');
});

test('a file that becomes unusable is reported once, and what was read before stays in force', async () => {
  const now = clock();
  const faults: unknown[] = [];
  const { strategy, users } = await started({ now, onFault: (fault) => faults.push(fault) });
  users.write('users: [');
  for (let request = 0; request < 3; request += 1) {
    now.pass(2_000);
    expect((await strategy.identify(basic('ops', 'ops'))).is).toBe('known');
  }
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatchObject({ code: 'IdentityFileInvalid' });
});

test.each([
  ['has no colon', 'hunter2hunter2', 'line 1 has no user'],
  ['holds a password in clear', '# x\nann:hunter2', 'line 2 is not a bcrypt hash; make it with "htpasswd -nB <user>"'],
  ['holds an MD5 hash', 'ann:$apr1$abcdefgh$hunter2hunter2hunter21', 'line 1 is not a bcrypt hash'],
  ['names a user twice', `ann:${hash('a')}\nann:${hash('b')}`, 'line 2 names a user that an earlier line names too'],
  ['has an impossible cost', `ann:$2b$99$${'a'.repeat(53)}`, 'line 1 has an impossible bcrypt cost'],
  ['is empty', '\n# nobody\n', 'it names no user'],
])('a password file that %s is refused at start, without showing what is in it', async (_, text, says) => {
  const fault = await faultOf(createHttpBasic({ htpasswd: textSource(text), users: textSource(usersText) }));
  expect(fault.code).toBe('IdentityFileInvalid');
  expect(fault.message).toContain(says);
  expect(fault.message).not.toContain('hunter2');
});

test.each([
  ['is not YAML', 'users:\n  ann: {', /line \d+ is not valid YAML/],
  ['has no users', 'people: {}', /users: /],
  ['names no role', 'users:\n  ann: { roles: [], project: p }', /line 2, users\.ann\.roles: name at least one role/],
  [
    'names no scope',
    'users:\n  bob: { roles: [a], project: p }\n  ann: { roles: [a] }',
    /line 3, users\.ann: give either/,
  ],
  ['names two scopes', 'users:\n  ann: { roles: [a], project: p, system: all }', /users\.ann: give either/],
  ['has a scope that is none', 'users:\n  ann: { roles: [a], system: some }', /line 2, users\.ann\.system/],
  ['has a misspelt field', 'users:\n  ann: { role: [a], project: p }', /users\.ann.*role/],
  ['names a user twice', 'users:\n  ann: { roles: [a], system: all }\n  ann: { roles: [b], system: all }', /line 3/],
])('a users file that %s is refused at start, naming line and entry', async (_, text, says) => {
  const fault = await faultOf(createHttpBasic({ htpasswd: textSource(htpasswdText), users: textSource(text) }));
  expect(fault.code).toBe('IdentityFileInvalid');
  expect(fault.message).toMatch(says);
});

describe('real files', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temper-identity-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('a users file may be JSON', async () => {
    const path = join(folder, 'users.json');
    await writeFile(path, JSON.stringify({ users: { ann: { roles: ['reader'], project: 'p' } } }));
    expect((await readUsers(path)).get('ann')).toMatchObject({ roles: ['reader'], project: 'p' });
  });

  test('a file that is missing is named, with what the system says', async () => {
    const path = join(folder, 'missing');
    const fault = await faultOf(createHttpBasic({ htpasswd: fileSource(path), users: textSource(usersText) }));
    expect(fault.message).toContain(path);
    expect(fault.message).toContain('ENOENT');
  });

  test('a file that changes is read again', async () => {
    const now = clock();
    const path = join(folder, 'htpasswd');
    await writeFile(path, htpasswdText);
    const strategy = await createHttpBasic({ htpasswd: fileSource(path), users: textSource(usersText), now });
    await writeFile(path, `ops:${hash('other password')}\n`);
    now.pass(2_000);
    expect((await strategy.identify(basic('ops', 'other password'))).is).toBe('known');
  });
});

describe('what a password costs', () => {
  const refusal = Object.assign(new Error('spent'), { code: 'TooManyRequests' });

  test('is asked of its sender before it is looked at; one that is remembered costs nothing', async () => {
    const { strategy } = await started();
    const spent: string[] = [];
    const from = (user: string, password: string) =>
      strategy.identify({ ...basic(user, password), spend: async () => void spent.push(user) });
    expect((await from('ann', 'secret:1')).is).toBe('known');
    expect((await from('ann', 'secret:1')).is).toBe('known');
    expect((await from('nobody', 'x')).is).toBe('refused');
    expect((await from('nobody', 'x')).is).toBe('refused');
    expect(spent).toEqual(['ann', 'nobody']);
  });

  test('is not incurred for who has spent its budget', async () => {
    const { strategy } = await started();
    const compare = jest.spyOn(native, 'compare');
    const spend = async () => Promise.reject(refusal);
    await expect(strategy.identify({ ...basic('ann', 'guess'), spend })).rejects.toBe(refusal);
    expect(compare).not.toHaveBeenCalled();
  });

  test('keeps two threads busy at most, and of one address four wait; another address has its turn', async () => {
    const { strategy } = await started();
    const held: (() => void)[] = [];
    let most = 0;
    let now = 0;
    jest.spyOn(native, 'compare').mockImplementation(async () => {
      most = Math.max(most, ++now);
      await new Promise<void>((done) => held.push(done));
      now -= 1;
      return false;
    });
    const from = (address: string, guess: number) =>
      strategy
        .identify({ ...basic('ann', `guess ${guess}`), sender: () => address })
        .catch((thrown: { code?: string }) => thrown.code);
    const attack = [1, 2, 3, 4, 5, 6].map((guess) => from('192.0.2.66', guess));
    expect(await Promise.all(attack.slice(4))).toEqual(['TooManyAtOnce', 'TooManyAtOnce']);
    const other = from('192.0.2.7', 7);
    let ended = false;
    const all = Promise.all([...attack.slice(0, 4), other]).finally(() => {
      ended = true;
    });
    while (!ended) {
      held.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await all).toEqual(Array.from({ length: 5 }, () => expect.objectContaining({ is: 'refused' })));
    expect(most).toBe(2);
    // Places come back.
    jest.restoreAllMocks();
    expect(await from('192.0.2.66', 8)).toMatchObject({ is: 'refused' });
  });
});
