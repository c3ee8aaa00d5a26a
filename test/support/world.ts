/** The people of the API tests: one token each, named for role and project. */
import { anonymous, type Caller, expandRoles } from '../../src/model/access/callers';

const inProject = (project_id: string, ...roles: string[]): Caller => ({
  ...anonymous,
  user_id: `user-of-${project_id}`,
  user_name: `user-of-${project_id}`,
  project_id,
  project_name: project_id,
  project_domain_id: 'default',
  user_domain_id: 'default',
  roles: expandRoles(roles),
  strategy: 'static_tokens',
});

const inSystem = (...roles: string[]): Caller => ({
  ...anonymous,
  user_id: 'user-of-system',
  user_name: 'user-of-system',
  system_scope: 'all',
  roles: expandRoles(roles),
  strategy: 'static_tokens',
});

export const owner = 'project-owner';
export const lessee = 'project-lessee';
export const stranger = 'project-stranger';

export const personas = {
  operator: inSystem('admin'),
  'system-member': inSystem('member'),
  'system-reader': inSystem('reader'),
  'owner-admin': inProject(owner, 'admin'),
  'owner-manager': inProject(owner, 'manager'),
  'owner-member': inProject(owner, 'member'),
  'owner-reader': inProject(owner, 'reader'),
  'lessee-admin': inProject(lessee, 'admin'),
  'lessee-manager': inProject(lessee, 'manager'),
  'lessee-member': inProject(lessee, 'member'),
  'lessee-reader': inProject(lessee, 'reader'),
  'stranger-admin': inProject(stranger, 'admin'),
  'stranger-roleless': inProject(stranger),
} as const satisfies Record<string, Caller>;

/** Callers of whom a few rules alone speak. */
export const passersBy = {
  'demo-observer': inProject('demo', 'observer'),
  'demo-reader': inProject('demo', 'reader'),
  'service-user': inProject('service', 'service'),
  'service-elsewhere': inProject('elsewhere', 'service'),
} as const satisfies Record<string, Caller>;

/** Who is in the tables of personas; a caller without any role is refused nearly everywhere. */
export type Persona = Exclude<keyof typeof personas, 'stranger-roleless'>;
