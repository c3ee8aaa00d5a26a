/** The caller of a request, from the identity room to the policy room. */

import { ownValue } from '../own';

/** `id` is that of the identity service. */
export type Delegated = { readonly by: 'application_credential' | 'trust' | 'oauth'; readonly id: string };

/** Credentials in the spelling of policy files; absent values are null, never missing. */
export type Caller = {
  readonly user_id: string | null;
  readonly user_name: string | null;
  readonly user_domain_id: string | null;
  readonly project_id: string | null;
  readonly project_name: string | null;
  readonly project_domain_id: string | null;
  /** 'all' for a token of system scope. */
  readonly system_scope: string | null;
  readonly domain_id: string | null;
  /** Expanded: an admin's list includes manager, member and reader. */
  readonly roles: readonly string[];
  readonly is_admin_project: boolean;
  /**
   * Other projects in which the caller is admin, if the installation looks them up. Null after a failed look-up, which makes decisions
   * that need them impossible.
   */
  readonly admin_projects: readonly string[] | null;
  /** True on the few public routes without login. */
  readonly is_public_api: boolean;
  readonly service_roles: readonly string[];
  readonly service_user_id: string | null;
  readonly service_user_domain_id: string | null;
  readonly service_project_id: string | null;
  readonly service_project_domain_id: string | null;
  /** Only the no-auth strategy sets this. */
  readonly all_powerful: boolean;
  /** Absent for a direct login. Its owner may revoke it. */
  readonly delegated?: Delegated;
  /** Of an OIDC token, ISO 8601. Nothing shows the roles of its holder later. */
  readonly token_ends?: string;
  readonly strategy: 'keystone' | 'oidc' | 'http_basic' | 'static_tokens' | 'noauth' | 'public';
};

export const anonymous: Caller = {
  user_id: null,
  user_name: null,
  user_domain_id: null,
  project_id: null,
  project_name: null,
  project_domain_id: null,
  system_scope: null,
  domain_id: null,
  roles: [],
  is_admin_project: true,
  admin_projects: [],
  is_public_api: false,
  service_roles: [],
  service_user_id: null,
  service_user_domain_id: null,
  service_project_id: null,
  service_project_domain_id: null,
  all_powerful: false,
  strategy: 'public',
};

/** For Temper's own strategies; the identity service expands roles itself. */
const implied: Readonly<Record<string, readonly string[]>> = {
  admin: ['manager', 'member', 'reader'],
  manager: ['member', 'reader'],
  member: ['reader'],
};

export const expandRoles = (roles: readonly string[]): string[] => [
  ...new Set(roles.flatMap((role) => [role, ...(ownValue(implied, role.toLowerCase()) ?? [])])),
];

/** Null for system scope, which has no quotas. */
export const quotaProject = ({ system_scope, project_id }: Pick<Caller, 'system_scope' | 'project_id'>) =>
  system_scope === null ? project_id : null;

/** An unscoped token counts as project scope, as in the rule engine. */
export const scopeOf = (caller: Caller): 'system' | 'domain' | 'project' =>
  caller.system_scope ? 'system' : caller.domain_id ? 'domain' : 'project';
