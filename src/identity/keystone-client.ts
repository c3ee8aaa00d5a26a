/** Keystone client: validates tokens and reads role assignments as the service user. */
import { Agent, type Dispatcher, request } from 'undici';
import { AnswerTooLong, bytesWithin } from '../model/bodies';
import { type Assigned, AssignmentsReply, projectsOf, type RoleScope, type UserRoles } from './keystone-assignments';
import { type AskAsService, Down, type KeystoneHeaders, type Reply } from './keystone-replies';
import { rolesIn } from './keystone-standing';
import { expiryOf, type KeystoneToken, TokenReply } from './keystone-token';
import { singleFlight } from './strategy';

type Domain = { readonly id: string } | { readonly name: string };
type InDomain = { readonly name: string; readonly domain?: Domain };

/** A password with a scope, or an application credential. The default domain has the id `default`. */
export type ServiceUser =
  | {
      readonly username: string;
      readonly password: string;
      readonly userDomain?: Domain;
      readonly scope: { readonly project: InDomain } | { readonly system: 'all' };
    }
  | { readonly applicationCredential: { readonly id: string; readonly secret: string } };

export type KeystoneClientOptions = {
  /** With or without /v3. */
  readonly identityUrl: string;
  readonly self: ServiceUser;
  /** Time limit of a whole exchange; default 5000 ms. */
  readonly timeoutMs?: number;
  /** PEM certificates that replace the system's. */
  readonly ca?: string;
  readonly now?: () => number;
};

export type Validation =
  | { readonly is: 'valid'; readonly token: KeystoneToken }
  | { readonly is: 'invalid' }
  | { readonly is: 'down'; readonly reason: string };

export type KeystoneClient = {
  /** `allowExpired` accepts a recently expired token, for long operations of a service. */
  validate(token: string, allowExpired: boolean): Promise<Validation>;
  /** Ids of projects in which a user has a role: direct, by group or inherited. Requires permission to list role assignments. */
  projectsWith(user: string, role: string): Promise<Assigned>;
  /** Role names, without the user's token. Requires the same permission. */
  rolesOf(user: string, scope: RoleScope): Promise<UserRoles>;
  close(): Promise<void>;
};

type OwnToken = { readonly token: string; readonly renewAt: number };

const tokens = '/auth/tokens';
/** Some ten thousand role assignments of 400 bytes. */
const bodyLimitBytes = 4 * 1024 * 1024;
/** Pause after a refused login. */
const refusalPauseMs = 5_000;

type Exchange = (
  method: Dispatcher.HttpMethod,
  path: string,
  extra: { readonly headers: KeystoneHeaders; readonly body?: string },
) => Promise<Reply>;

/** Fetched at the first request and renewed before expiry. */
const createOwnToken = (exchange: Exchange, self: KeystoneClientOptions['self'], now: () => number) => {
  let own: OwnToken | undefined;
  let refusal: { until: number; fault: unknown } | undefined;
  const renewal = singleFlight<OwnToken>();
  const login = async (): Promise<OwnToken> => {
    // Repeated logins with a wrong password could lock our service user out.
    if (refusal && now() < refusal.until) throw refusal.fault;
    const reply = await exchange('POST', `${tokens}?nocatalog`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(loginBody(self)),
    });
    try {
      return readOwn(reply, now());
    } catch (fault) {
      refusal = { until: now() + refusalPauseMs, fault };
      throw fault;
    }
  };
  return {
    async get(): Promise<string> {
      if (!own || own.renewAt <= now()) own = await renewal('own', login);
      return own.token;
    },
    /** Drops a refused token, unless there is a newer one. */
    drop(token: string): void {
      if (own?.token === token) own = undefined;
    },
  };
};

const validated = async (ask: AskAsService, token: string, allowExpired: boolean): Promise<Validation> => {
  const reply = await ask(`${tokens}${allowExpired ? '?nocatalog&allow_expired=1' : '?nocatalog'}`, {
    'x-subject-token': token,
    // Without it Keystone returns 404 for tokens with access rules (keystone/token/provider.py).
    'openstack-identity-access-rules': '1.0',
  });
  if (reply.status === 404) return { is: 'invalid' };
  if (reply.status === 200) return { is: 'valid', token: parseToken(reply.body) };
  throw new Down(`the identity service answered ${reply.status} to a validation`);
};

const assigned = async (ask: AskAsService, user: string, role: string): Promise<Assigned> => {
  const query = new URLSearchParams({ 'user.id': user, 'role.id': role });
  const { status, body } = await ask(`/role_assignments?${query}&effective`, {});
  if (status === 403) throw new Down('the identity service does not let our service user list role assignments');
  const read = AssignmentsReply.safeParse(body);
  if (status === 200 && read.success) return { is: 'known', projects: projectsOf(read.data) };
  throw new Down(`the identity service answered ${status} and no role assignments`);
};

export const createKeystoneClient = (options: KeystoneClientOptions): KeystoneClient => {
  const { timeoutMs = 5_000, now = Date.now } = options;
  const base = `${options.identityUrl.replace(/\/+$/, '').replace(/\/v3$/, '')}/v3`;
  const dispatcher = new Agent({ connect: { timeout: timeoutMs, ...(options.ca ? { ca: options.ca } : {}) } });
  const exchange: Exchange = (method, path, extra) =>
    askOnce(`${base}${path}`, { method, dispatcher, signal: AbortSignal.timeout(timeoutMs), ...extra });
  const own = createOwnToken(exchange, options.self, now);

  // A 401 concerns the service user: its token was revoked, or the signing keys have changed.
  const askAsService = async (path: string, headers: KeystoneHeaders, again = true): Promise<Reply> => {
    const token = await own.get();
    const reply = await exchange('GET', path, { headers: { 'x-auth-token': token, ...headers } });
    if (reply.status !== 401) return reply;
    own.drop(token);
    if (!again) throw new Down('the identity service does not accept the tokens it gives our service user');
    return askAsService(path, headers, false);
  };
  return {
    validate: (token, allowExpired) => orDown(() => validated(askAsService, token, allowExpired)),
    projectsWith: (user, role) => orDown(() => assigned(askAsService, user, role)),
    rolesOf: (user, scope) => orDown(() => rolesIn(askAsService, { user, scope, now: now() })),
    close: () => dispatcher.destroy(),
  };
};

const orDown = async <T>(work: () => Promise<T>): Promise<T | { is: 'down'; reason: string }> => {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof Down) return { is: 'down', reason: thrown.message };
    throw thrown;
  }
};

type KeystoneRequest = {
  method: Dispatcher.HttpMethod;
  dispatcher: Agent;
  signal: AbortSignal;
  headers: KeystoneHeaders;
  body?: string;
};

/** Throws Down without a response. Retries a reset connection once (keep-alive races). */
const askOnce = async (url: string, options: KeystoneRequest, again = true): Promise<Reply> => {
  try {
    const reply = await request(url, { ...options, headers: { accept: 'application/json', ...options.headers } });
    const subject = reply.headers['x-subject-token'];
    return {
      status: reply.statusCode,
      subjectToken: typeof subject === 'string' ? subject : null,
      body: await readJson(reply.body),
    };
  } catch (thrown) {
    if (thrown instanceof Down) throw thrown;
    const code = (thrown as { code?: string; name?: string })?.code ?? (thrown as Error)?.name ?? 'unknown';
    if (again && ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(String(code))) return askOnce(url, options, false);
    throw new Down(`the identity service did not answer (${code})`);
  }
};

/** Undefined if the body is not JSON. Throws Down if it is too long. */
const readJson = async (body: AsyncIterable<Buffer>): Promise<unknown> => {
  const bytes = await bytesWithin(body, bodyLimitBytes).catch((thrown) => {
    throw thrown instanceof AnswerTooLong ? new Down('the identity service answered more than can be read') : thrown;
  });
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
};

const parseToken = (body: unknown): KeystoneToken => {
  const parsed = TokenReply.safeParse(body);
  if (parsed.success) return parsed.data.token;
  const where = parsed.error.issues.map(({ path }) => path.join('.') || 'the body').join(', ');
  throw new Down(`the identity service answered a token that cannot be read (${where})`);
};

/** Renewal is due five minutes, or a tenth of the lifetime, before expiry. Throws Down. */
const readOwn = ({ status, body, subjectToken }: Reply, at: number): OwnToken => {
  if (status === 401) throw new Down('the identity service refused the credentials of our service user');
  if (status !== 201 && status !== 200) throw new Down(`the identity service answered ${status} to our own login`);
  if (!subjectToken) throw new Down('the identity service answered our login without X-Subject-Token');
  const lifeMs = expiryOf(parseToken(body)) - at;
  return { token: subjectToken, renewAt: at + lifeMs - Math.min(300_000, lifeMs / 10) };
};

const loginBody = (self: ServiceUser): unknown => {
  if ('applicationCredential' in self) {
    const application_credential = self.applicationCredential;
    return { auth: { identity: { methods: ['application_credential'], application_credential } } };
  }
  const inDomain = (domain: Domain = { id: 'default' }) => ({ domain });
  const user = { name: self.username, password: self.password, ...inDomain(self.userDomain) };
  const scope =
    'system' in self.scope
      ? { system: { all: true } }
      : { project: { name: self.scope.project.name, ...inDomain(self.scope.project.domain) } };
  return { auth: { identity: { methods: ['password'], password: { user } }, scope } };
};
