/** The caller of verified claims: user, scopes and roles by the issuer's row of the file. */
import type { JWTPayload } from 'jose';
import { anonymous, type Caller } from '../model/access/callers';
import { isDocument } from '../model/document';
import { ownValue } from '../model/own';
import { storable } from '../model/texts';
import type { ClaimPath, Grant, Issuer } from './oidc-file';
import { callerFrom, type UserStanding } from './users';

const longestText = 255;
/** ECMA-262, "Time Values and Time Range". */
const lastMs = 8.64e15;

const claimAt = (claims: JWTPayload, path: ClaimPath): unknown =>
  path.reduce<unknown>((value, name) => (isDocument(value) ? ownValue(value, name) : undefined), claims);

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= longestText && storable(value) === value;

const textAt = (claims: JWTPayload, path: ClaimPath | undefined): string | undefined => {
  const value = path && claimAt(claims, path);
  return isName(value) ? value : undefined;
};

/** A list of texts, or one text. `scope` is a list with spaces (RFC 8693, 4.2). */
const textsAt = (claims: JWTPayload, path: ClaimPath): readonly string[] => {
  const value = claimAt(claims, path);
  const texts = typeof value === 'string' && path.join() === 'scope' ? value.split(' ') : [value].flat();
  return texts.filter(isName);
};

const standingsOf = (claims: JWTPayload, { grants, claims: names, domain }: Issuer): UserStanding[] => {
  const granted = grants.filter((grant) => textsAt(claims, grant.claim).includes(grant.value)).map(standingOf);
  const project = textAt(claims, names.project);
  const roles = names.roles ? textsAt(claims, names.roles) : [];
  if (project === undefined || roles.length === 0) return granted;
  return [...granted, { project, project_name: textAt(claims, names.project_name), roles: [...roles], domain }];
};

const standingOf = ({ claim: _claim, value: _value, ...standing }: Grant): UserStanding => standing;

const scopeKey = ({ project, system }: UserStanding): string => (system ? 'system' : `project ${project}`);

/** Adds roles and other projects; the first row names project and domain. */
const merged = (one: UserStanding | undefined, other: UserStanding): UserStanding =>
  one
    ? {
        ...one,
        roles: [...new Set([...one.roles, ...other.roles])],
        admin_projects: [...(one.admin_projects ?? []), ...(other.admin_projects ?? [])],
      }
    : other;

/** By scope, in the order of the file: the first is the default. */
export type Scopes = ReadonlyMap<string, Caller>;

const unscopedKey = '';

/** Undefined if the user's claim is missing or no text. */
export const scopesOf = (claims: JWTPayload, issuer: Issuer): Scopes | undefined => {
  const id = textAt(claims, issuer.claims.user);
  if (id === undefined) return undefined;
  const user_id = `${issuer.user_prefix ?? ''}${id}`;
  const user = {
    user_id,
    user_name: textAt(claims, issuer.claims.name) ?? user_id,
    user_domain_id: textAt(claims, issuer.claims.domain) ?? issuer.domain,
    token_ends: new Date(Math.min(claims.exp! * 1_000, lastMs)).toISOString(),
  };
  const standings = new Map<string, UserStanding>();
  for (const one of standingsOf(claims, issuer))
    standings.set(scopeKey(one), merged(standings.get(scopeKey(one)), one));
  if (standings.size === 0) return new Map([[unscopedKey, { ...anonymous, ...user, strategy: 'oidc' }]]);
  return new Map(
    [...standings].map(([key, standing]) => [key, { ...callerFrom(user_id, standing, 'oidc'), ...user }] as const),
  );
};

/** @param scope `system` or a project's id; null for the default. Undefined if the token does not grant it. */
export const callerIn = (scopes: Scopes, scope: string | null): Caller | undefined =>
  scope === null ? scopes.values().next().value : scopes.get(scope === 'system' ? scope : `project ${scope}`);
