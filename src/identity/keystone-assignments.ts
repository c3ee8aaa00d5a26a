/** In which projects the holder of an admin's token is admin too: what Keystone answers, and how long it is believed. */
import { z } from 'zod';
import type { Delegated } from '../model/access/callers';
import { type KeystoneToken, ownAdminRole } from './keystone-token';
import { singleFlight } from './strategy';

/** The body of `GET /v3/role_assignments`, as far as this room reads it. */
export const AssignmentsReply = z.object({
  role_assignments: z.array(z.object({ scope: z.object({ project: z.object({ id: z.string() }).nullish() }) })),
});

/** The projects among the scopes, each once; a role on a domain or on the system is no role in a project. */
export const projectsOf = ({ role_assignments }: z.infer<typeof AssignmentsReply>): string[] => [
  ...new Set(role_assignments.flatMap(({ scope }) => scope.project?.id ?? [])),
];

/** What Keystone answers of the projects that a user has a role in. */
export type Assigned =
  | { readonly is: 'known'; readonly projects: readonly string[] }
  | { readonly is: 'down'; readonly reason: string };

/** The same with the names of roles, of one user in one scope. */
export const RolesReply = z.object({ role_assignments: z.array(z.object({ role: z.object({ name: z.string() }) })) });

/** Where roles are held, and by what they were lent where they are not the user's by its own login. */
export type RoleScope = ({ readonly project: string } | { readonly system: 'all' }) & {
  readonly delegated?: Delegated;
};

/**
 * The roles of a user in a scope, none where user, project or a domain of theirs is gone or disabled, or what lent the roles is; `denied` where our own user may not ask.
 */
export type UserRoles =
  | { readonly is: 'known'; readonly roles: readonly string[] }
  | { readonly is: 'denied' }
  | { readonly is: 'down'; readonly reason: string };

export type AssignmentOptions = {
  /** Whether to ask in which other projects an admin is admin; false, for it takes a service user who may list assignments. */
  readonly adminProjects?: boolean;
  /** Called with the reason when that cannot be found out, once until it can. */
  readonly onUnknownProjects?: (reason: string) => void;
  readonly now?: () => number;
};

/** How long the question is spared an identity service that did not answer it; ms. */
const pauseMs = 10_000;

/** One list, so that callers of the same token are the same. */
const none: readonly string[] = [];

/**
 * Finds the other projects of a validated token's holder: none for a caller who is no admin, null where Keystone could not say. What
 * was found is believed for as long as the token itself, so a role that is taken away lags by the token's cache.
 */
export const createAdminProjects = (
  client: { projectsWith(user: string, role: string): Promise<Assigned> },
  { adminProjects = false, onUnknownProjects, now = Date.now }: AssignmentOptions,
) => {
  const found = new WeakMap<KeystoneToken, readonly string[]>();
  const once = singleFlight<readonly string[] | null>();
  let fault: { readonly pauseUntil: number } | undefined;

  const ask = async (user: string, role: string): Promise<readonly string[] | null> => {
    const answer = await client.projectsWith(user, role);
    if (answer.is === 'known') {
      fault = undefined;
      return answer.projects;
    }
    if (!fault) onUnknownProjects?.(answer.reason);
    fault = { pauseUntil: now() + pauseMs };
    return null;
  };

  return async (token: KeystoneToken): Promise<readonly string[] | null> => {
    const role = adminProjects ? ownAdminRole(token) : undefined;
    if (role === undefined) return none;
    const known = found.get(token);
    if (known) return known;
    if (fault && now() < fault.pauseUntil) return null;
    const projects = await once(JSON.stringify([token.user.id, role]), () => ask(token.user.id, role));
    if (projects) found.set(token, projects);
    return projects;
  };
};
