/** Scope of a caller, and its check against a rule's scopes. */

import type { ActiveRule, Scope } from '../types';
import type { Credentials } from './credentials';
/** Without any scope, credentials count as those of a project. */
export const scopeOfCredentials = (credentials: Credentials): Scope =>
  credentials.system ? 'system' : credentials.domain_id ? 'domain' : 'project';

export const admitsScope = (rule: ActiveRule, credentials: Credentials): boolean =>
  rule.scopes === null || rule.scopes.includes(scopeOfCredentials(credentials));
