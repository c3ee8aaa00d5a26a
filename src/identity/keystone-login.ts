/** The service user's own token: its login, its renewal, and a pause after a refusal. */
import type { Exchange } from './keystone-exchange';
import { Down, type Reply } from './keystone-replies';
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

type OwnToken = {
  readonly token: string;
  readonly renewAt: number;
  /** The body of the login. */
  readonly body: unknown;
};

/** Pause after a refused login. */
const refusalPauseMs = 5_000;

/**
 * Fetched at the first request and renewed before expiry.
 * @param login path with query: `nocatalog` leaves the catalogue out
 */
export const createOwnToken = (
  exchange: Exchange,
  { self, now, path }: { readonly self: ServiceUser; readonly now: () => number; readonly path: string },
) => {
  let own: OwnToken | undefined;
  let refusal: { until: number; fault: unknown } | undefined;
  const renewal = singleFlight<OwnToken>();
  const login = async (): Promise<OwnToken> => {
    // Repeated logins with a wrong password could lock our service user out.
    if (refusal && now() < refusal.until) throw refusal.fault;
    const reply = await exchange('POST', path, {
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
    async get(): Promise<OwnToken> {
      if (!own || own.renewAt <= now()) own = await renewal('own', login);
      return own;
    },
    /** Drops a refused token, unless there is a newer one. */
    drop(token: string): void {
      if (own?.token === token) own = undefined;
    },
  };
};

/** Throws Down. */
export const parseToken = (body: unknown): KeystoneToken => {
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
  return { token: subjectToken, renewAt: at + lifeMs - Math.min(300_000, lifeMs / 10), body };
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
