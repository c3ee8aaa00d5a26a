/** Hostile credentials, headers and files, by the thousand: no caller gets in, nothing breaks, and no secret is shown. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import bcrypt from 'bcryptjs';
import fc from 'fast-check';
import { type ApiContext, createApi } from '../../src/api';
import type { Route } from '../../src/api/server/route';
import {
  createHttpBasic,
  createIdentity,
  createKeystone,
  createStaticTokens,
  type Identity,
  presentedFrom,
} from '../../src/identity';
import { parseHtpasswd } from '../../src/identity/htpasswd';
import { accessRulesAllow, TokenReply } from '../../src/identity/keystone-token';
import { parseTokens } from '../../src/identity/static-tokens';
import { parseUsers } from '../../src/identity/users';
import { isTemperError } from '../../src/model/errors';
import { defaultSettings } from '../support/settings';
import { ownLogin, presenting, startScriptedKeystone, textSource, tokenBody } from './support';

const right = { keystone: 'right-keystone-token', fixed: 'right-static-token-1', password: 'right-password' };
const basicOf = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

let service: Awaited<ReturnType<typeof startScriptedKeystone>>;
let identity: Identity;

beforeAll(async () => {
  service = await startScriptedKeystone(({ method, headers }) => {
    if (method === 'POST') return ownLogin();
    return headers['x-subject-token'] === right.keystone ? { status: 200, body: tokenBody() } : { status: 404 };
  });
  const self = { username: 'temper', password: 'own', scope: { system: 'all' } } as const;
  const users = textSource('users: { ann: { roles: [admin], system: all } }');
  identity = createIdentity([
    createKeystone({ identityUrl: service.url, self }),
    await createStaticTokens({
      tokens: textSource(`tokens: [{ user: ci, token: ${right.fixed}, roles: [admin], system: all }]`),
    }),
    await createHttpBasic({ htpasswd: textSource(`ann:${bcrypt.hashSync(right.password, 4)}`), users }),
  ]);
});
afterAll(async () => {
  await identity?.close();
  await service?.close();
});

/** Texts as an attacker would try them: random, almost right, twice, cut, in another case, with something around them. */
const near = (secret: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.nat(secret.length - 1).map((end) => secret.slice(0, end)),
    fc.string({ minLength: 1, maxLength: 5 }).map((more) => `${secret}${more}`),
    fc.string({ minLength: 1, maxLength: 5 }).map((more) => `${more}${secret}`),
    fc.constantFrom(secret.toUpperCase(), `${secret}, ${secret}`, `"${secret}"`, `${secret}\u0000`, `Bearer ${secret}`),
  );
const anything = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.nat(20_000).map((length) => 'x'.repeat(length)),
  fc.constantFrom('__proto__', 'constructor', '../../etc/passwd', "' or 1=1 --", '%00', 'null', 'notused'),
);
const secrets = Object.values(right);
const isRight = (text: string | undefined) => text !== undefined && secrets.includes(text.trim());
const token = fc.oneof(anything, near(right.keystone), near(right.fixed)).filter((text) => !isRight(text));
const authorization = fc
  .oneof(
    anything,
    token.map((text) => `Basic ${text}`),
    fc
      .tuple(fc.constantFrom('ann', 'eve', ''), fc.oneof(anything, near(right.password)))
      .map(([user, password]) => basicOf(user, password)),
    fc.constant(`${basicOf('ann', right.password)}, ${basicOf('ann', right.password)}`),
  )
  .filter((text) => text.trim() !== basicOf('ann', right.password));
const headersOf = fc.record(
  { 'x-auth-token': token, 'x-service-token': token, authorization, 'x-roles': fc.constant('admin') },
  { requiredKeys: [] },
);

test('no credentials but the right ones are accepted, whatever is tried', async () => {
  await fc.assert(
    fc.asyncProperty(headersOf, fc.string(), fc.string(), async (headers, method, path) => {
      const thrown = await identity.identify(presentedFrom({ headers, method, path })).then(
        (caller) => new Error(`let in as ${caller.user_name}`),
        (fault: unknown) => fault,
      );
      if (!isTemperError(thrown, 'Unauthenticated')) throw thrown;
    }),
    { numRuns: 400 },
  );
});

test('right credentials are whose they are, whatever headers of identity come with them', async () => {
  const names = [
    'x-roles',
    'x-role',
    'x-user-id',
    'x-project-id',
    'x-tenant',
    'openstack-system-scope',
    'x-domain-id',
    'x-service-roles',
    'x-identity-status',
    'x-is-admin-project',
    'remote-user',
    'x-forwarded-user',
  ];
  const plain = await identity.identify(presenting({ token: right.keystone }));
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), anything), async (forged) => {
      const headers = { ...forged, 'x-auth-token': right.keystone };
      expect(await identity.identify(presentedFrom({ headers, method: 'GET', path: '/v1/nodes' }))).toEqual(plain);
    }),
    { numRuns: 100 },
  );
});

describe('over HTTP', () => {
  const logged: unknown[] = [];
  const log = (says: string, facts?: unknown) => void logged.push({ says, facts });
  const open: Route = { method: 'GET', path: '/v1/nodes', rules: [], handler: async () => ({ status: 200, body: {} }) };
  let port: number;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const inventory = {}; // no caller gets as far as the store
    const rooms = {
      identity,
      inventory,
      settings: defaultSettings,
      log: { info: log, warn: log, error: log },
    } as unknown as ApiContext;
    const server = createServer(createApi(rooms, [open])).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    close = async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    };
  });
  afterAll(() => close());

  /** The status of a request with header lines as they are given, names repeated where they are. */
  const ask = (lines: readonly (readonly [string, string])[]): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = ['Host', 'h', ...lines.flat()];
      const sent = request({ port, host: '127.0.0.1', path: '/v1/nodes', headers, agent: false }, (reply) => {
        reply.resume();
        resolve(reply.statusCode ?? 0);
      });
      sent.once('error', reject).end();
    });

  test('the right ones get in, alone', async () => {
    expect(await ask([['X-Auth-Token', right.keystone]])).toBe(200);
    expect(await ask([['X-Auth-Token', right.fixed]])).toBe(200);
    expect(await ask([['Authorization', basicOf('ann', right.password)]])).toBe(200);
  });

  test.each([
    [
      'two tokens',
      [
        ['X-Auth-Token', right.keystone],
        ['X-Auth-Token', right.keystone],
      ],
    ],
    [
      'two tokens, one of them wrong',
      [
        ['X-Auth-Token', right.fixed],
        ['x-auth-token', 'wrong'],
      ],
    ],
    [
      'two passwords, the first right',
      [
        ['Authorization', basicOf('ann', right.password)],
        ['Authorization', basicOf('ann', 'x')],
      ],
    ],
    [
      'a right password beside a wrong token',
      [
        ['Authorization', basicOf('ann', right.password)],
        ['X-Auth-Token', 'wrong'],
      ],
    ],
    [
      'a right token beside a service token that is none',
      [
        ['X-Auth-Token', right.keystone],
        ['X-Service-Token', 'wrong'],
      ],
    ],
    ['a token where a password belongs', [['Authorization', right.keystone]]],
  ] as const)('%s are a 401', async (_, lines) => {
    expect(await ask(lines as never)).toBe(401);
  });

  test('what cannot be a credential is a 401, too much of it a 431, and never a fault of ours', async () => {
    // What Node itself does not send, an attacker's program may; the parser on our side is Node's as well.
    const sendable = (text: string) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '');
    const line = fc.oneof(
      token.map((text) => ['X-Auth-Token', sendable(text)] as const),
      token.map((text) => ['X-Service-Token', sendable(text)] as const),
      authorization.map((text) => ['Authorization', sendable(text)] as const),
    );
    const lines = fc.array(line, { maxLength: 4 }).filter((all) => !all.some(([, text]) => isRight(text)));
    await fc.assert(
      fc.asyncProperty(lines, async (given) => {
        const tooMuch = given.reduce((total, [name, text]) => total + name.length + text.length, 0) > 16_000;
        expect(tooMuch ? [401, 431] : [401]).toContain(await ask(given));
      }),
      { numRuns: 200 },
    );
    expect(logged).toEqual([]);
  });
});

test('whatever Keystone answers, a caller is known only by a whole token that has not ended', async () => {
  let body: unknown;
  const odd = await startScriptedKeystone(({ method }) => (method === 'POST' ? ownLogin() : { status: 200, body }));
  const self = { username: 'temper', password: 'own', scope: { system: 'all' } } as const;
  const strategy = createKeystone({ identityUrl: odd.url, self, cacheMs: 0, outageMs: 0 });
  const whole = tokenBody().token as Record<string, unknown>;
  const broken = fc.record(
    Object.fromEntries(
      Object.entries(whole).map(([key, value]) => [key, fc.oneof(fc.constant(value), fc.jsonValue())]),
    ),
    { requiredKeys: [] },
  );
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.jsonValue(),
          broken.map((given) => ({ token: given })),
        ),
        async (given) => {
          body = given;
          const verdict = await strategy.identify(presenting({ token: 'user-token' }));
          const parsed = TokenReply.safeParse(given);
          const good = parsed.success && Date.parse(parsed.data.token.expires_at) > Date.now();
          expect(verdict.is).toBe(good ? 'known' : parsed.success ? 'refused' : 'unavailable');
        },
      ),
      { numRuns: 150 },
    );
  } finally {
    await strategy.close?.();
    await odd.close();
  }
});

test('an access rule allows what it names and no path that differs before its first wildcard', () => {
  const path = fc.array(fc.constantFrom('/', 'v1', 'nodes', 'n', '..', '%2f', '{', '}', '.'), { maxLength: 8 });
  const pattern = fc.array(fc.constantFrom('/', 'v1', 'nodes', '*', '**', '{n}', '{', '}', '(.+)'), { maxLength: 8 });
  const tokenWith = (rule: string) =>
    TokenReply.parse(
      tokenBody({ application_credential: { access_rules: [{ service: 'baremetal', method: 'GET', path: rule }] } }),
    ).token;
  const allows = (rule: string, asked: string) =>
    accessRulesAllow(tokenWith(rule), { method: 'GET', path: asked }, 'baremetal');
  fc.assert(
    fc.property(pattern, path, (ruleParts, pathParts) => {
      const [rule, asked] = [ruleParts.join(''), pathParts.join('')];
      const literal = rule.slice(0, rule.search(/[*{]|$/)).replace(/\/$/, '');
      if (!asked.startsWith(literal)) expect(allows(rule, asked)).toBe(false);
      if (!/[*{]/.test(asked)) expect(allows(asked, asked)).toBe(true);
    }),
  );
});

test.each([
  ['a password file', parseHtpasswd, (text: string) => `ann:${text}`],
  ['a tokens file', parseTokens, (text: string) => `tokens: [{ user: a, token: ${text} }]`],
  ['a users file', parseUsers, (text: string) => `users: { ${text}: { roles: [a], system: all } }`],
] as const)('%s of any content is read or refused by name, without showing what is in it', (_, parse, around) => {
  const secret = 'hunter2-hunter2-hunter2';
  const text = fc.oneof(
    anything,
    anything.map(around),
    anything.map((more) => `${around(secret)}\n${more}`),
  );
  fc.assert(
    fc.property(text, (given) => {
      try {
        parse(given, 'the file');
      } catch (thrown) {
        if (!isTemperError(thrown, 'IdentityFileInvalid')) throw thrown;
        expect(thrown.message).not.toContain(secret);
      }
    }),
    { numRuns: 300 },
  );
});

test('a map where a name belongs is not written to standard error', () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  try {
    parseUsers('users: { {token: hunter2}: { roles: [a], system: all } }', 'the file');
  } catch (thrown) {
    expect(String(thrown)).not.toContain('hunter2');
  }
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
});

test('a file whose aliases grow out of all bounds is refused and not resolved', () => {
  const levels = Array.from({ length: 12 }, (_, at) => `l${at}: &l${at} [${Array(10).fill(at ? `*l${at - 1}` : 'x')}]`);
  const fault = (() => {
    try {
      return parseUsers(`${levels.join('\n')}\nusers: {}`, 'the file');
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(isTemperError(fault, 'IdentityFileInvalid') && fault.message).toContain('aliases');
});
