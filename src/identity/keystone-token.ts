/** A validated Keystone token and its caller. */
import { z } from 'zod';
import { anonymous, type Caller, type Delegated } from '../model/access/callers';

const IdAndName = z.object({ id: z.string(), name: z.string().nullish() });
const Scoped = IdAndName.extend({ domain: z.object({ id: z.string().nullish() }).nullish() });

const Token = z.object({
  user: Scoped,
  expires_at: z.iso.datetime({ offset: true }),
  roles: z.array(z.object({ id: z.string().nullish(), name: z.string() })).default([]),
  project: Scoped.nullish(),
  domain: IdAndName.nullish(),
  system: z.object({ all: z.boolean().nullish() }).nullish(),
  is_admin_project: z.boolean().nullish(),
  application_credential: z
    .object({
      id: z.string().nullish(),
      access_rules: z.array(z.object({ service: z.string(), path: z.string(), method: z.string() })).nullish(),
    })
    .nullish(),
  'OS-TRUST:trust': z.looseObject({ id: z.string().nullish() }).nullish(),
  'OS-OAUTH1': z.looseObject({ access_token_id: z.string().nullish() }).nullish(),
});

/** Part of the body of `GET /v3/auth/tokens`. */
export const TokenReply = z.object({ token: Token });
export type KeystoneToken = z.infer<typeof Token>;

/** Milliseconds since the epoch. */
export const expiryOf = (token: KeystoneToken): number => Date.parse(token.expires_at);

/** Keystone has already added implied roles. */
export const rolesOf = (token: KeystoneToken): string[] => token.roles.map(({ name }) => name);

/**
 * The holder's own admin role in the token's project. Delegated roles (application credential, trust, OAuth) apply to
 * one project only.
 */
export const ownAdminRole = (token: KeystoneToken): string | undefined => {
  const delegated = token.application_credential ?? token['OS-TRUST:trust'] ?? token['OS-OAUTH1'];
  if (delegated || !token.project) return undefined;
  return token.roles.find(({ name }) => name.toLowerCase() === 'admin')?.id ?? undefined;
};

/** Undefined for a direct login. */
const delegatedOf = (token: KeystoneToken): Delegated | undefined => {
  if (token.application_credential) return { by: 'application_credential', id: token.application_credential.id ?? '' };
  if (token['OS-TRUST:trust']) return { by: 'trust', id: token['OS-TRUST:trust'].id ?? '' };
  if (token['OS-OAUTH1']) return { by: 'oauth', id: token['OS-OAUTH1'].access_token_id ?? '' };
  return undefined;
};

/** @param adminProjects null if Keystone could not be queried */
const callerOf = (
  token: KeystoneToken,
  service: KeystoneToken | null,
  adminProjects: readonly string[] | null = [],
): Caller => ({
  ...anonymous,
  ...(delegatedOf(token) && { delegated: delegatedOf(token) }),
  user_id: token.user.id,
  user_name: token.user.name ?? null,
  user_domain_id: token.user.domain?.id ?? null,
  project_id: token.project?.id ?? null,
  project_name: token.project?.name ?? null,
  project_domain_id: token.project?.domain?.id ?? null,
  system_scope: token.system?.all ? 'all' : null,
  domain_id: token.domain?.id ?? null,
  roles: rolesOf(token),
  is_admin_project: token.is_admin_project ?? true,
  admin_projects: adminProjects,
  service_roles: service ? rolesOf(service) : [],
  service_user_id: service?.user.id ?? null,
  service_user_domain_id: service?.user.domain?.id ?? null,
  service_project_id: service?.project?.id ?? null,
  service_project_domain_id: service?.project?.domain?.id ?? null,
  strategy: 'keystone',
});

/** One Caller per cached token, because decisions are cached by that object. */
export const createCallers = () => {
  const made = new WeakMap<KeystoneToken, { readonly projects: readonly string[] | null; readonly caller: Caller }>();
  return {
    /** The same object for the same token and projects, unless a service acts. */
    of(token: KeystoneToken, service: KeystoneToken | null, projects: readonly string[] | null): Caller {
      if (service) return callerOf(token, service, projects);
      const known = made.get(token);
      if (known && known.projects === projects) return known.caller;
      const caller = callerOf(token, null, projects);
      made.set(token, { projects, caller });
      return caller;
    },
  };
};

/** Without access rules all is allowed; an empty list allows nothing. */
export const accessRulesAllow = (
  token: KeystoneToken,
  { method, path }: { method: string; path: string },
  serviceType: string,
): boolean => {
  const rules = token.application_credential?.access_rules;
  if (!rules) return true;
  return rules.some(
    (rule) => rule.service === serviceType && rule.method.toUpperCase() === method && pathMatches(rule.path, path),
  );
};

/**
 * `**` matches any text, `*` and `{name}` one path segment. A trailing slash is ignored. Tracks all positions at
 * once: callers write the patterns, and a regular expression could backtrack for minutes.
 */
const pathMatches = (pattern: string, request: string): boolean => {
  const path = trimSlash(request);
  let reached = new Set([0]);
  for (const [part] of trimSlash(pattern).matchAll(/\*\*|\*|\{[^}]*\}|[^*{]+|\{/g)) {
    const wild = part === '**' ? /./s : part === '*' || /^\{.*\}$/.test(part) ? /[^/]/ : undefined;
    reached = wild ? spread(path, reached, wild, part === '**' ? 0 : 1) : advance(path, reached, part);
  }
  return reached.has(path.length);
};

/** Positions after a literal. */
const advance = (path: string, from: ReadonlySet<number>, literal: string): Set<number> =>
  new Set([...from].filter((at) => path.startsWith(literal, at)).map((at) => at + literal.length));

/** Positions after at least `least` characters of a kind. */
const spread = (path: string, from: ReadonlySet<number>, kind: RegExp, least: 0 | 1): Set<number> => {
  const to = new Set<number>(least === 0 ? from : []);
  let running = false;
  for (let at = 0; at < path.length; at += 1) {
    running = (running || from.has(at)) && kind.test(path[at] as string);
    if (running) to.add(at + 1);
  }
  return to;
};

const trimSlash = (path: string): string => (path.length > 1 ? path.replace(/\/$/, '') : path);
