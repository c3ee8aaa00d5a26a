/** The caller of a request: the identity room creates it and the policy room reads it. */

import { ownValue } from '../own';

/** An application credential, a trust or an OAuth access token, by its id at the identity service. */
export type Delegated = { readonly by: 'application_credential' | 'trust' | 'oauth'; readonly id: string };

/** Credentials in the spelling of policy files. Absent values are null, never missing. */
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
   * Other projects in which the caller is admin; empty unless the installation looks them up. Null if that look-up failed: a decision
   * that needs them is then impossible.
   */
  readonly admin_projects: readonly string[] | null;
  /** True on the few public routes, which need no login. */
  readonly is_public_api: boolean;
  readonly service_roles: readonly string[];
  readonly service_user_id: string | null;
  readonly service_user_domain_id: string | null;
  readonly service_project_id: string | null;
  readonly service_project_domain_id: string | null;
  /** Only the no-auth strategy sets this: every rule passes. */
  readonly all_powerful: boolean;
  /** The delegation that the caller uses, which its owner may revoke. Absent for a direct login. */
  readonly delegated?: Delegated;
  /** The strategy that authenticated the caller, for the audit trail. */
  readonly strategy: 'keystone' | 'http_basic' | 'static_tokens' | 'noauth' | 'public';
};

/** A caller without any credentials. */
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

/** Implied roles. The identity service expands these itself; Temper's own strategies use this table. */
const implied: Readonly<Record<string, readonly string[]>> = {
  admin: ['manager', 'member', 'reader'],
  manager: ['member', 'reader'],
  member: ['reader'],
};

/** The roles and all implied ones, without duplicates. */
export const expandRoles = (roles: readonly string[]): string[] => [
  ...new Set(roles.flatMap((role) => [role, ...(ownValue(implied, role.toLowerCase()) ?? [])])),
];

/** The project whose quotas a request counts against; null for callers of system scope, which have no quotas. */
export const quotaProject = ({ system_scope, project_id }: Pick<Caller, 'system_scope' | 'project_id'>) =>
  system_scope === null ? project_id : null;

/** The caller's kind of scope. An unscoped token counts as project scope, as in the rule engine. */
export const scopeOf = (caller: Caller): 'system' | 'domain' | 'project' =>
  caller.system_scope ? 'system' : caller.domain_id ? 'domain' : 'project';
