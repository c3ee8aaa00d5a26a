/** The users file: each user's roles and scope. */
import { z } from 'zod';
import { anonymous, type Caller, expandRoles } from '../model/access/callers';
import { fileSource, parseYaml, reloading } from './sources';
import type { StrategyName } from './strategy';

/** Shared with the tokens file. */
export const standingFields = {
  roles: z.array(z.string().min(1)).min(1, 'name at least one role'),
  project: z.string().min(1).optional(),
  project_name: z.string().min(1).optional(),
  system: z.literal('all').optional(),
  /** Ids of other projects in which a project's admin is admin. */
  admin_projects: z.array(z.string().min(1)).min(1, 'name at least one project, or leave it out').optional(),
  /** The domain of user and project. */
  domain: z.string().min(1).default('default'),
};

type Supporting = { roles?: readonly string[]; project?: string; admin_projects?: readonly string[] };

/** Only a project's admin may have other projects. */
export const supportsAsAdmin = ({ roles, project, admin_projects }: Supporting): boolean =>
  admin_projects === undefined ||
  (project !== undefined && (roles ?? []).some((role) => role.toLowerCase() === 'admin'));
export const supportsAsAdminSays = 'admin_projects are for an admin of a project: give it "project" and the role admin';

const UserStanding = z.strictObject(standingFields);
export type UserStanding = z.infer<typeof UserStanding>;

export const oneScope = (entry: { project?: string; system?: string }): boolean =>
  (entry.project === undefined) !== (entry.system === undefined);
export const oneScopeSays = 'give either "project: <project id>" or "system: all"';

const UsersFile = z.strictObject({
  users: z.record(
    z.string().min(1),
    UserStanding.refine(oneScope, oneScopeSays).refine(supportsAsAdmin, supportsAsAdminSays),
  ),
});

export type Users = ReadonlyMap<string, UserStanding>;

/** @throws IdentityFileInvalid with line and entry */
export const parseUsers = (text: string, file: string): Users =>
  new Map(Object.entries(parseYaml(UsersFile, text, file).users));

/** @throws IdentityFileInvalid with file, line and entry */
export const readUsers = async (path: string): Promise<Users> => (await reloading(fileSource(path), parseUsers))();

/** Adds implied roles, because no identity service has done so. */
export const callerFrom = (user: string, standing: UserStanding, strategy: StrategyName): Caller => ({
  ...anonymous,
  user_id: user,
  user_name: user,
  user_domain_id: standing.domain,
  project_id: standing.project ?? null,
  project_name: standing.project ? (standing.project_name ?? standing.project) : null,
  project_domain_id: standing.project ? standing.domain : null,
  system_scope: standing.system ?? null,
  roles: expandRoles(standing.roles),
  admin_projects: [...new Set(standing.admin_projects ?? [])],
  strategy,
});
