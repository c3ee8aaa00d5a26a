/** Credentials of a caller, under the names that rules use. */

import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';

export type Credentials = Readonly<Record<string, unknown>>;

/** Credentials that rules may name, with their types. Any other name is a typing mistake. */
export const credentialKeys: Readonly<Record<string, 'text' | 'boolean' | 'list'>> = {
  user_id: 'text',
  user_domain_id: 'text',
  project_id: 'text',
  project_name: 'text',
  project_domain_id: 'text',
  system_scope: 'text',
  system: 'text',
  domain_id: 'text',
  roles: 'list',
  is_admin_project: 'boolean',
  admin_projects: 'list',
  is_public_api: 'boolean',
  service_user_id: 'text',
  service_user_domain_id: 'text',
  service_project_id: 'text',
  service_project_domain_id: 'text',
  service_roles: 'list',
};

/** Project whose service users count as system members; present only if enabled. */
export const serviceProjectKey = 'config.service_project_name';

/** Adds `system`, a copy of `system_scope`. */
export const normalise = (credentials: Credentials): Credentials =>
  credentials.system_scope && credentials.system !== credentials.system_scope
    ? { ...credentials, system: credentials.system_scope }
    : credentials;

/** Reading the unknown value throws IdentityUnavailable, so no decision is made without it. */
const unsaid: PropertyDescriptor = {
  enumerable: true,
  get: () =>
    raise('IdentityUnavailable', {
      reason: 'the identity service could not say in which other projects the caller is administrator',
    }),
};

const withAdminProjects = (credentials: Credentials, projects: readonly string[] | null): Credentials =>
  projects === null
    ? Object.defineProperty({ ...credentials }, 'admin_projects', unsaid)
    : { ...credentials, admin_projects: projects };

export const credentialsOf = (who: Caller, elevated: string | null): Credentials =>
  withAdminProjects(
    normalise({
      user_id: who.user_id,
      user_domain_id: who.user_domain_id,
      project_id: who.project_id,
      project_name: who.project_name,
      project_domain_id: who.project_domain_id,
      system_scope: who.system_scope,
      domain_id: who.domain_id,
      roles: who.roles,
      is_admin_project: who.is_admin_project,
      is_public_api: who.is_public_api,
      service_user_id: who.service_user_id,
      service_user_domain_id: who.service_user_domain_id,
      service_project_id: who.service_project_id,
      service_project_domain_id: who.service_project_domain_id,
      service_roles: who.service_roles,
      ...(elevated === null ? {} : { [serviceProjectKey]: elevated }),
    }),
    who.admin_projects,
  );
