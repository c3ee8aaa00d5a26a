/** Other projects in which an admin is admin, from Keystone and cached. */
import { z } from 'zod';
import type { Delegated } from '../model/access/callers';
import { type KeystoneToken, ownAdminRole } from './keystone-token';
import { singleFlight } from './strategy';

/** Part of the body of `GET /v3/role_assignments`. */
export const AssignmentsReply = z.object({
  role_assignments: z.array(z.object({ scope: z.object({ project: z.object({ id: z.string() }).nullish() }) })),
});

/** Each project once. Roles on domains or on the system do not count. */
export const projectsOf = ({ role_assignments }: z.infer<typeof AssignmentsReply>): string[] => [
  ...new Set(role_assignments.flatMap(({ scope }) => scope.project?.id ?? [])),
];

export type Assigned =
  | { readonly is: 'known'; readonly projects: readonly string[] }
  | { readonly is: 'down'; readonly reason: string };

/** Role names of one user in one scope. */
export const RolesReply = z.object({ role_assignments: z.array(z.object({ role: z.object({ name: z.string() }) })) });

export type RoleScope = ({ readonly project: string } | { readonly system: 'all' }) & {
  readonly delegated?: Delegated;
};

/**
 * No roles if the user, the project, a domain of theirs or the delegation is gone, disabled or expired. `denied`: our
 * service user lacks the permission.
 */
export type UserRoles =
  | { readonly is: 'known'; readonly roles: readonly string[] }
  | { readonly is: 'denied' }
  | { readonly is: 'down'; readonly reason: string };

export type AssignmentOptions = {
  /** Default false, because the service user must be allowed to list assignments. */
  readonly adminProjects?: boolean;
  /** Called once per failure period. */
  readonly onUnknownProjects?: (reason: string) => void;
  readonly now?: () => number;
};

/** Pause after a failed query. */
const pauseMs = 10_000;

/** One shared list, so that callers of the same token stay identical. */
const none: readonly string[] = [];

/**
 * Empty if the caller is no admin, null if Keystone cannot be queried. Cached with the token, so a revoked role is
 * noticed when that cache entry ends.
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
