/** Current roles of users from Keystone, without their tokens and cached briefly. */
import { LRUCache } from 'lru-cache';
import type { RoleScope, UserRoles } from './keystone-assignments';
import { createKeystoneClient, type KeystoneClientOptions } from './keystone-client';
import { singleFlight } from './strategy';

export type RoleLookup = {
  rolesOf(user: string, scope: RoleScope): Promise<UserRoles>;
  close(): Promise<void>;
};

const most = 1_000;
/** Pause per user after an outage. */
const outagePauseMs = 5_000;

/** @param cacheMs cache time, and so the delay of a revoked role; 0 disables */
export const createRoleLookup = ({
  cacheMs,
  ...options
}: KeystoneClientOptions & { readonly cacheMs: number }): RoleLookup => {
  const { now = Date.now } = options;
  const client = createKeystoneClient(options);
  const known = new LRUCache<string, { readonly roles: UserRoles; readonly until: number }>({ max: most });
  const once = singleFlight<UserRoles>();
  const ask = async (key: string, user: string, scope: RoleScope): Promise<UserRoles> => {
    const roles = await client.rolesOf(user, scope);
    const lasts = roles.is === 'down' ? Math.min(outagePauseMs, cacheMs) : cacheMs;
    known.set(key, { roles, until: now() + lasts });
    return roles;
  };
  return {
    async rolesOf(user, scope) {
      const key = JSON.stringify([user, scope]);
      const found = known.get(key);
      return found && now() < found.until ? found.roles : once(key, () => ask(key, user, scope));
    },
    close: () => client.close(),
  };
};
