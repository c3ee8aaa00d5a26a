/** A validated Keystone token: its reply parsed, and what it says of its holder. */
import { z } from 'zod';
import { anonymous, type Caller, type Delegated } from '../model/access/callers';

const IdAndName = z.object({ id: z.string(), name: z.string().nullish() });
const Scoped = IdAndName.extend({ domain: z.object({ id: z.string().nullish() }).nullish() });

const Token = z.object({
  user: Scoped,
  /** ISO 8601. */
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

/** The body of `GET /v3/auth/tokens`, as far as this room reads it. */
export const TokenReply = z.object({ token: Token });
export type KeystoneToken = z.infer<typeof Token>;

/** When it ends, in ms since the epoch. */
export const expiryOf = (token: KeystoneToken): number => Date.parse(token.expires_at);

/** Role names as the token lists them: the identity service has expanded them. */
export const rolesOf = (token: KeystoneToken): string[] => token.roles.map(({ name }) => name);

/**
 * The id of the admin role that a token carries for its project as its holder's own; undefined for any other token. What
 * was delegated, by an application credential, a trust or OAuth, is for one project and says nothing of others.
 */
export const ownAdminRole = (token: KeystoneToken): string | undefined => {
  const delegated = token.application_credential ?? token['OS-TRUST:trust'] ?? token['OS-OAUTH1'];
  if (delegated || !token.project) return undefined;
  return token.roles.find(({ name }) => name.toLowerCase() === 'admin')?.id ?? undefined;
};

/** What lent the token its rights; undefined for one that its holder has by its own login. */
const delegatedOf = (token: KeystoneToken): Delegated | undefined => {
  if (token.application_credential) return { by: 'application_credential', id: token.application_credential.id ?? '' };
  if (token['OS-TRUST:trust']) return { by: 'trust', id: token['OS-TRUST:trust'].id ?? '' };
  if (token['OS-OAUTH1']) return { by: 'oauth', id: token['OS-OAUTH1'].access_token_id ?? '' };
  return undefined;
};

/**
 * The caller a token stands for, with the service that acts for them, if one does.
 * @param adminProjects where the holder is admin; null where that could not be found out
 */
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

/** Callers of tokens that are remembered, each made once: what is decided about one is remembered with it. */
export const createCallers = () => {
  const made = new WeakMap<KeystoneToken, { readonly projects: readonly string[] | null; readonly caller: Caller }>();
  return {
    /** As `callerOf`; the same object for the same token and projects, as long as no service acts for it. */
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

/**
 * Whether the access rules of a token's application credential let this request through. Only rules can allow, so no list
 * means no limit and an empty list means nothing is allowed.
 */
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
 * `**` is any text, `*` and `{name}` are one path element, all else is itself; a final slash makes no difference.
 * Walks all possible positions at once: the owner of the credential wrote the pattern, and must not be able to make a
 * regular expression backtrack for minutes.
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

/** Where a literal leads to from the positions reached so far. */
const advance = (path: string, from: ReadonlySet<number>, literal: string): Set<number> =>
  new Set([...from].filter((at) => path.startsWith(literal, at)).map((at) => at + literal.length));

/** Where a run of at least `least` characters of a kind leads to. */
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
