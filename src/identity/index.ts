/** Identity of callers. */
export { createHttpBasic } from './http-basic';
export { createIdentity, type Identity } from './identity';
export { createKeystone, type KeystoneOptions } from './keystone';
export type { UserRoles } from './keystone-assignments';
export type { ServiceUser } from './keystone-login';
export { createRoleLookup, type RoleLookup } from './keystone-roles';
export { createNoauth } from './noauth';
export { askIssuers, createOidc } from './oidc';
export { createServiceSession, type ServiceSession } from './service-session';
export { fileSource } from './sources';
export { createStaticTokens } from './static-tokens';
export { type IdentityVerdict as Verdict, type Presented, presentedFrom, type Strategy } from './strategy';
export { readUsers } from './users';
