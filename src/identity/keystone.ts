/** The keystone strategy: cached tokens, limited by access rules. */
import { withoutVersion } from '../model/texts';
import { type AssignmentOptions, createAdminProjects } from './keystone-assignments';
import { createKeystoneClient, type KeystoneClientOptions } from './keystone-client';
import { createMemory, type MemoryOptions } from './keystone-memory';
import { accessRulesAllow, createCallers, expiryOf, type KeystoneToken, rolesOf } from './keystone-token';
import { absent, type IdentityVerdict, type Presented, refused, type Strategy, unavailable } from './strategy';

export type KeystoneOptions = KeystoneClientOptions &
  MemoryOptions &
  AssignmentOptions & {
    /** Keystone's URL in a 401; default is the identity URL. */
    readonly publicUrl?: string;
    /** A service token needs one of these roles; default `service`. */
    readonly serviceRoles?: readonly string[];
    /** The service type of this API in access rules; default `baremetal`. */
    readonly serviceType?: string;
  };

/** Sends no request, so that the API starts during a Keystone outage. */
export const createKeystone = (options: KeystoneOptions): Strategy => {
  const { serviceRoles = ['service'], serviceType = 'baremetal', now = Date.now } = options;
  const client = createKeystoneClient(options);
  const validate = createMemory(client, options);
  const adminProjectsOf = createAdminProjects(client, options);
  const callers = createCallers();

  /** Null without a service token, a verdict if it is not accepted. */
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
    // A service uses its own paths, so the access rules do not apply to it.
    if (!service.token && !accessRulesAllow(token, presented, serviceType))
      return refused(`the access rules of the application credential do not allow ${presented.method} here`);
    return { is: 'known', caller: callers.of(token, service.token, await adminProjectsOf(token)) };
  };

  const uri = withoutVersion(options.publicUrl ?? options.identityUrl, 'v3');
  return {
    name: 'keystone',
    reads: 'token',
    challenge: `Keystone uri="${uri}"`,
    identify,
    close: () => client.close(),
  };
};
