/** A demo identity service: as much of Keystone's API as real clients need, with the demo's users. Not for production. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { login } from './login';
import { demoApplicationCredentials, demoDomain, demoUsers, roleEntry, serviceId } from './people';
import { type Claims, createTokens, type Tokens } from './tokens';

export {
  demoApplicationCredentials,
  demoProjects,
  demoUsers,
} from './people';

export type DemoIdentityOptions = {
  /** 0 for any free one. */
  readonly port: number;
  readonly host: string;
  /** The bare metal endpoint in the catalog. */
  readonly catalogUrl: string;
  /** Where signing key and revocations are kept; without it a restart logs everybody out. */
  readonly stateDir?: string;
  readonly now?: () => number;
};

/** How long after its end a token is still shown to a service that asks for expired ones, as in Keystone; ms. */
const expiredWindowMs = 48 * 3600_000;

/** Starts the service. `url` is the auth_url without /v3; it listens when the promise resolves. */
export const startDemoIdentity = async (
  options: DemoIdentityOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> => {
  const { now = Date.now } = options;
  const server = createServer(routes(createTokens(options.stateDir, now), options.catalogUrl, now));
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`, close };
};

const routes = (tokens: Tokens, catalogUrl: string, now: () => number): Express => {
  const app = express().disable('x-powered-by').disable('etag');
  app.use(express.json({ limit: '64kb', type: () => true }));

  app.get('/', (req, res) => {
    res.status(300).json({ versions: { values: [version(req)] } });
  });
  app.get('/v3', (req, res) => {
    res.json({ version: version(req) });
  });

  app.post('/v3/auth/tokens', (req, res) => {
    const answer = login(req.body, tokens, now());
    if (answer.is === 'refused') return fail(req, res, answer.status, answer.message);
    const { token, claims } = tokens.issue(answer.claims);
    res
      .status(201)
      .set('X-Subject-Token', token)
      .json(describe(req, claims, catalogUrl));
  });

  // Express answers HEAD with this too, leaving out the body.
  app.get('/v3/auth/tokens', (req, res) => {
    const subject = examine(req, res, tokens, now());
    if (!subject) return;
    res.set('X-Subject-Token', req.get('x-subject-token')).json(describe(req, subject, catalogUrl));
  });

  app.delete('/v3/auth/tokens', (req, res) => {
    const subject = examine(req, res, tokens, now());
    if (!subject) return;
    tokens.revoke(subject);
    res.status(204).end();
  });

  app.use((req, res) => fail(req, res, 404, 'The demo identity service does not have this resource.'));
  const broken: ErrorRequestHandler = (thrown, req, res, _next) =>
    fail(req, res, thrown?.status === 413 ? 413 : thrown?.status === 400 ? 400 : 500, 'The request could not be read.');
  return app.use(broken);
};

const titles = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Request Entity Too Large',
  500: 'Internal Server Error',
} as const;

const fail = (req: Request, res: Response, code: keyof typeof titles, message: string): void => {
  if (code === 401) res.set('WWW-Authenticate', `Keystone uri="${here(req)}"`);
  res.status(code).json({ error: { code, title: titles[code], message } });
};

/** The token asked about; answers the request itself when the asker may not know, or there is none. */
const examine = (req: Request, res: Response, tokens: Tokens, now: number): Claims | undefined => {
  const asker = tokens.read(req.get('x-auth-token') ?? '');
  if (!asker || asker.expires <= now) {
    fail(req, res, 401, 'The request you have made requires authentication.');
    return undefined;
  }
  const subject = tokens.read(req.get('x-subject-token') ?? '');
  const grace = req.query.allow_expired === '1' ? expiredWindowMs : 0;
  const limited = credentialOf(subject)?.accessRules != null && !req.get('openstack-identity-access-rules');
  if (!subject || subject.expires + grace <= now || limited) {
    fail(req, res, 404, 'Could not find the token.');
    return undefined;
  }
  const mayAsk = asker.audit === subject.audit || rolesOf(asker).some((role) => role === 'admin' || role === 'service');
  if (mayAsk) return subject;
  fail(req, res, 403, 'You are not authorized to ask about the tokens of others.');
  return undefined;
};

const here = (req: Request): string => `${req.protocol}://${req.get('host')}`;

const version = (req: Request): unknown => ({
  id: 'v3.14',
  status: 'stable',
  updated: '2020-04-07T00:00:00Z',
  links: [{ rel: 'self', href: `${here(req)}/v3/` }],
  'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }],
});

const userOf = (claims: Claims) => demoUsers.find(({ id }) => id === claims.user);
const credentialOf = (claims: Claims | undefined) =>
  demoApplicationCredentials.find(({ id }) => id === claims?.credential);

const rolesOf = (claims: Claims): readonly string[] => {
  if (claims.scope === 'unscoped') return [];
  return (claims.scope === 'system' ? userOf(claims)?.systemRoles : userOf(claims)?.projectRoles) ?? [];
};

/** A token as the identity API shows it. Roles come from the table of today, not from the day of issue. */
const describe = (req: Request, claims: Claims, catalogUrl: string): unknown => {
  const { project, ...user } = userOf(claims) ?? { project: null, id: claims.user, name: claims.user };
  const credential = credentialOf(claims);
  const scoped = claims.scope !== 'unscoped';
  return {
    token: {
      methods: claims.methods,
      user: { id: user.id, name: user.name, domain: demoDomain, password_expires_at: null },
      audit_ids: [claims.audit],
      issued_at: new Date(claims.issued).toISOString(),
      expires_at: new Date(claims.expires).toISOString(),
      ...(scoped && { roles: rolesOf(claims).map(roleEntry) }),
      ...(claims.scope === 'system' && { system: { all: true } }),
      ...(claims.scope === 'project' && { project: { ...project, domain: demoDomain } }),
      ...(credential && {
        application_credential: {
          id: credential.id,
          name: credential.name,
          restricted: true,
          ...(credential.accessRules && { access_rules: credential.accessRules }),
        },
      }),
      ...(scoped && req.query.nocatalog === undefined && { catalog: catalog(`${here(req)}/v3`, catalogUrl) }),
    },
  };
};

const catalog = (identityUrl: string, baremetalUrl: string): unknown[] =>
  [
    { type: 'baremetal', name: 'temper', url: baremetalUrl },
    { type: 'identity', name: 'keystone', url: identityUrl },
  ].map(({ url, ...service }) => ({
    ...service,
    id: serviceId(service.type),
    endpoints: ['public', 'internal', 'admin'].map((kind) => ({
      id: serviceId(`${service.type} ${kind}`),
      interface: kind,
      region: 'demo',
      region_id: 'demo',
      url,
    })),
  }));
