/** The door of the identity room: who is calling. */
export { createHttpBasic, type HttpBasicOptions } from './http-basic';
export { createIdentity, type Identity } from './identity';
export { createKeystone, type KeystoneOptions } from './keystone';
export type { Domain, ServiceUser } from './keystone-client';
export { createNoauth } from './noauth';
export { fileSource, type Source } from './sources';
export { createStaticTokens, type StaticTokensOptions } from './static-tokens';
export { type Presented, presentedFrom, type Strategy, type StrategyName, type Verdict } from './strategy';
export { readUsers, type Users } from './users';
