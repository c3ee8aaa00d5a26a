/** The file of OIDC issuers: which tokens count, and what their claims grant. */
import { z } from 'zod';
import { parseYaml } from './sources';
import { oneScope, oneScopeSays, standingFields, supportsAsAdmin, supportsAsAdminSays } from './users';

/** Neither `none` nor HMAC: with the latter, a public key would be the secret. */
const oidcAlgorithms = [
  'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519',
] as const; // biome-ignore format: one row of names

const nonEmpty = z.string().min(1);
/** A name, or the path to a nested claim. Names may contain dots. */
const claim = z.union([nonEmpty.transform((name) => [name]), z.array(nonEmpty).min(1)]);
export type ClaimPath = z.output<typeof claim>;

const Grant = z
  .strictObject({ claim, value: nonEmpty, ...standingFields })
  .refine(oneScope, oneScopeSays)
  .refine(supportsAsAdmin, supportsAsAdminSays);

const ClaimNames = z
  .strictObject({
    user: claim.prefault('sub'),
    name: claim.prefault('preferred_username'),
    /** The domain of the user. */
    domain: claim.optional(),
    project: claim.optional(),
    project_name: claim.optional(),
    /** In that project. */
    roles: claim.optional(),
  })
  .refine(
    ({ project, roles }) => (project === undefined) === (roles === undefined),
    'give both project and roles, or neither',
  );

const Issuer = z.strictObject({
  issuer: z.url({ protocol: /^https?$/, error: 'must be the URL in the "iss" of its tokens' }),
  audience: z.union([nonEmpty.transform((one) => [one]), z.array(nonEmpty).min(1)]),
  keys_url: z.url({ protocol: /^https?$/, error: 'must be a URL that begins with https:// or http://' }).optional(),
  algorithms: z
    .array(z.enum(oidcAlgorithms))
    .min(1)
    .default([...oidcAlgorithms]),
  user_prefix: nonEmpty.optional(),
  domain: nonEmpty.default('default'),
  claims: ClaimNames.prefault({}),
  grants: z.array(Grant).default([]),
});
export type Issuer = z.output<typeof Issuer>;
export type Grant = z.output<typeof Grant>;

/** Otherwise a user of one issuer could get the id of another's user. */
const apart = (issuers: readonly Issuer[]): boolean =>
  issuers.every(
    ({ user_prefix: one }, at) =>
      issuers.length === 1 ||
      (one !== undefined && issuers.every(({ user_prefix: other }, nth) => nth === at || !other?.startsWith(one))),
  );

const IssuersFile = z.strictObject({
  issuers: z
    .array(Issuer)
    .min(1, 'name at least one issuer')
    .refine((all) => new Set(all.map(({ issuer }) => issuer)).size === all.length, 'name each issuer once')
    .refine(apart, 'give each of several issuers a "user_prefix", none of which begins with another'),
});

export type Issuers = ReadonlyMap<string, Issuer>;

/** @throws IdentityFileInvalid with line and entry */
export const parseIssuers = (text: string, file: string): Issuers =>
  new Map(parseYaml(IssuersFile, text, file).issuers.map((one) => [one.issuer, one]));
