/** Keystone tokens: validated by the identity service, remembered for a while, limited by access rules. */
import { type AssignmentOptions, createAdminProjects } from './keystone-assignments';
import { createKeystoneClient, type KeystoneClientOptions } from './keystone-client';
import { createMemory, type MemoryOptions } from './keystone-memory';
import { accessRulesAllow, createCallers, expiryOf, type KeystoneToken, rolesOf } from './keystone-token';
import { absent, type IdentityVerdict, type Presented, refused, type Strategy, unavailable } from './strategy';

export type KeystoneOptions = KeystoneClientOptions &
  MemoryOptions &
  AssignmentOptions & {
    /** The address callers are sent to in a 401; the identity URL unless they reach it by another. */
    readonly publicUrl?: string;
    /** A service token counts with one of these roles; `service`. */
    readonly serviceRoles?: readonly string[];
    /** What access rules call this API; `baremetal`. */
    readonly serviceType?: string;
  };

/** The keystone strategy. It asks nothing at construction: an identity service that is down must not keep us down. */
export const createKeystone = (options: KeystoneOptions): Strategy => {
  const { serviceRoles = ['service'], serviceType = 'baremetal', now = Date.now } = options;
  const client = createKeystoneClient(options);
  const validate = createMemory(client, options);
  const adminProjectsOf = createAdminProjects(client, options);
  const callers = createCallers();

  /** The service that acts for the caller: null when none is named, a verdict when it does not count. */
  const findService = async ({
    serviceToken,
    spend,
  }: Presented): Promise<{ token: KeystoneToken | null } | IdentityVerdict> => {
    if (serviceToken === null) return { token: null };
    const found = await validate(serviceToken, false, spend);
    if (found.is === 'down') return unavailable(found.reason);
    if (found.is === 'invalid' || expiryOf(found.token) <= now())
      return refused('the service token is unknown, revoked or expired');
    if (rolesOf(found.token).some((role) => serviceRoles.includes(role))) return { token: found.token };
    return refused('the service token does not have a service role');
  };

  const identify = async (presented: Presented): Promise<IdentityVerdict> => {
    if (presented.token === null) return absent;
    const service = await findService(presented);
    if ('is' in service) return service;
    const found = await validate(presented.token, service.token !== null, presented.spend);
    if (found.is === 'down') return unavailable(found.reason);
    if (found.is === 'invalid') return refused('the token is unknown, revoked or expired');
    const { token } = found;
    if (!service.token && expiryOf(token) <= now()) return refused('the token has expired');
    // A service calls on its own paths, not on those that the credential was limited to.
    if (!service.token && !accessRulesAllow(token, presented, serviceType))
      return refused(`the access rules of the application credential do not allow ${presented.method} here`);
    return { is: 'known', caller: callers.of(token, service.token, await adminProjectsOf(token)) };
  };

  const uri = (options.publicUrl ?? options.identityUrl).replace(/\/+$/, '').replace(/\/v3$/, '');
  return {
    name: 'keystone',
    reads: 'token',
    challenge: `Keystone uri="${uri}"`,
    identify,
    close: () => client.close(),
  };
};
