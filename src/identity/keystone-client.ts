/** Keystone client: validates tokens and reads role assignments as the service user. */
import { type Assigned, AssignmentsReply, projectsOf, type RoleScope, type UserRoles } from './keystone-assignments';
import { exchangeWith, type KeystoneAddress } from './keystone-exchange';
import { createOwnToken, parseToken, type ServiceUser } from './keystone-login';
import { type AskAsService, Down, type KeystoneHeaders, orDown, type Reply } from './keystone-replies';
import { rolesIn } from './keystone-standing';
import type { KeystoneToken } from './keystone-token';

export type KeystoneClientOptions = KeystoneAddress & {
  readonly self: ServiceUser;
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

const tokens = '/auth/tokens';

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
  const { self, now = Date.now } = options;
  const { exchange, dispatcher } = exchangeWith(options);
  const own = createOwnToken(exchange, { self, now, path: `${tokens}?nocatalog` });

  // A 401 concerns the service user: its token was revoked, or the signing keys have changed.
  const askAsService = async (path: string, headers: KeystoneHeaders, again = true): Promise<Reply> => {
    const { token } = await own.get();
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
