/** Keystone's people in the console: signing in to one of several projects, changing to another, and the end of a token. */
import type { IncomingMessage } from 'node:http';
import { createIdentity, createKeystone } from '../../src/identity';
import { clock, ownLogin, startScriptedKeystone, tokenBody } from '../identity/support';
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { runningRun } from '../support/happenings';
import { lessee, owner } from '../support/world';

/** With the roles that a role implies, as Keystone lists them. */
const projects = {
  lab: { id: owner, roles: ['manager', 'member', 'reader'] },
  shop: { id: lessee, roles: ['member', 'reader'] },
} as const;
type ProjectName = keyof typeof projects;
type Login = {
  readonly auth: {
    readonly identity: {
      readonly password?: { readonly user: { readonly name: string; readonly password: string } };
      readonly token?: { readonly id: string };
    };
    readonly scope?: { readonly project?: { readonly id?: string; readonly name?: string } };
  };
};

const bodyOf = async (request: IncomingMessage): Promise<Login> => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
};

/** A Keystone with one person, ann, who has a role in each of two projects and none on the system. */
const startPeople = async () => {
  const tokens = new Map<string, ProjectName>();
  const shown = (project: ProjectName) =>
    tokenBody({
      expires_at: new Date(Date.now() + 600_000).toISOString(),
      project: { id: projects[project].id, name: project, domain: { id: 'default', name: 'Default' } },
      roles: projects[project].roles.map((name) => ({ id: `role-${name}`, name })),
    });
  const login = ({ auth: { identity, scope } }: Login) => {
    const { password, token } = identity;
    if (password?.user.name === 'temper') return ownLogin();
    const known = password
      ? password.user.name === 'ann' && password.user.password === 'ann-secret'
      : tokens.has(token?.id ?? '');
    const wanted = scope?.project;
    const found = Object.entries(projects).find(([name, { id }]) => id === wanted?.id || name === wanted?.name);
    if (!known || !found) return { status: 401 };
    const [name, made] = [found[0] as ProjectName, `token-${tokens.size + 1}-${found[0]}`];
    tokens.set(made, name);
    return { status: 201, headers: { 'X-Subject-Token': made }, body: shown(name) };
  };
  const ended = new Set<string>();
  const service = await startScriptedKeystone(async (request) => {
    const { method, url = '', headers } = request;
    if (method === 'POST') return login(await bodyOf(request));
    if (url.startsWith('/v3/auth/projects'))
      return { status: 200, body: { projects: Object.entries(projects).map(([name, { id }]) => ({ id, name })) } };
    const subject = String(headers['x-subject-token']);
    if (method === 'DELETE') {
      ended.add(subject);
      return { status: 204 };
    }
    const project = tokens.get(subject);
    return project && !ended.has(subject) ? { status: 200, body: shown(project) } : { status: 404 };
  });
  return { ...service, tokens, ended };
};

let people: Awaited<ReturnType<typeof startPeople>>;
let api: TestApi;
let pages: TestConsole;
const now = clock();
const self = { username: 'temper', password: 'own-password', scope: { system: 'all' } } as const;

beforeAll(async () => {
  people = await startPeople();
  const identity = createIdentity([createKeystone({ identityUrl: people.url, self, now })]);
  api = await startTestApi({ identity });
  pages = await startTestConsole(api.url, { identityUrl: people.url });
  const { node } = await runningRun(api);
  await api.sql`update nodes set name = 'of-both' where uuid = ${node}`;
  await api.sql`insert into nodes (name, driver, owner) values ('of-lab', 'fake-hardware', ${owner})`;
});
afterAll(async () => {
  await pages?.close();
  await api?.close();
  await people?.close();
});

const ann = { kind: 'password', user: 'ann', password: 'ann-secret', project: 'lab', domain: 'Default' };

const signedIn = async () => {
  const browser = pages.browser();
  await browser.get('/sign-in');
  const page = await browser.post('/sign-in', ann);
  expect(page).toMatchObject({ status: 303, to: '/' });
  const cookie = page.headers.getSetCookie().at(-1)!;
  await browser.get('/scope');
  return { browser, cookie, token: [...people.tokens.keys()].at(-1)! };
};

const nodesOn = (text: string): string[] => ['of-both', 'of-lab'].filter((name) => text.includes(`/nodes/${name}"`));

test('a person sees the nodes of the project that was chosen, and of another after changing to it', async () => {
  const { browser, token } = await signedIn();
  expect(nodesOn((await browser.get('/nodes')).text)).toEqual(['of-both', 'of-lab']);
  const scopes = await browser.get('/scope');
  for (const [name, { id }] of Object.entries(projects))
    expect(scopes.text).toContain(`value="${id}">${name}</button>`);
  const before = browser.cookie;
  expect(await browser.post('/scope', { project: projects.shop.id })).toMatchObject({ status: 303, to: '/' });
  const page = await browser.get('/nodes');
  expect(nodesOn(page.text)).toEqual(['of-both']);
  expect(page.text).toContain('aria-label="Scope: shop"');
  expect(people.ended.has(token)).toBe(true);
  browser.cookie = before;
  expect(await browser.get('/nodes')).toMatchObject({ status: 303, to: '/sign-in?next=%2Fnodes' });
});

test('a scope in which the person has no role is refused, and the session stays as it was', async () => {
  const { browser, token } = await signedIn();
  const page = await browser.post('/scope', { project: '' });
  expect(page).toMatchObject({
    status: 403,
    text: expect.stringContaining('refused these credentials, or this scope'),
  });
  expect(people.ended.has(token)).toBe(false);
  expect(nodesOn((await browser.get('/nodes')).text)).toEqual(['of-both', 'of-lab']);
});

test.each([
  ['a wrong password', { password: 'no' }],
  ['a project without a role there', { project: 'elsewhere' }],
  ['the system without a role there', { project: '' }],
])('%s is refused at the sign-in', async (_, wrong) => {
  const browser = pages.browser();
  await browser.get('/sign-in');
  const page = await browser.post('/sign-in', { ...ann, ...wrong });
  expect(page).toMatchObject({
    status: 401,
    text: expect.stringContaining('refused these credentials, or this scope'),
  });
  expect(await browser.get('/nodes')).toMatchObject({ status: 303 });
});

test('a session lasts no longer than its token', async () => {
  const { cookie } = await signedIn();
  const seconds = Number(/Max-Age=(\d+)/.exec(cookie)![1]);
  // The token is made for ten minutes; the console's own limit is an hour here.
  expect(seconds).toBeLessThanOrEqual(600);
  expect(seconds).toBeGreaterThan(0);
});

test('a token that an administrator ends at Keystone ends the session, once the API has asked again', async () => {
  const { browser, token } = await signedIn();
  expect((await browser.get('/nodes')).status).toBe(200);
  people.ended.add(token);
  now.pass(301_000); // beyond the time for which the API believes it unasked
  expect(await browser.get('/nodes')).toMatchObject({
    status: 401,
    text: expect.stringContaining('Your session has ended'),
  });
  expect(await browser.get('/nodes')).toMatchObject({ status: 303 });
});

test('signing out ends the token at Keystone', async () => {
  const { browser, token } = await signedIn();
  expect(await browser.post('/sign-out', {})).toMatchObject({ status: 303, to: '/sign-in' });
  expect(people.ended.has(token)).toBe(true);
});

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
