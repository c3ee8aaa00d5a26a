/** The scope a caller comes with, and whether a rule admits it. */

import type { ActiveRule, Scope } from '../types';
import type { Credentials } from './credentials';
/** Credentials without any scope count as a project's. */
export const scopeOfCredentials = (credentials: Credentials): Scope =>
  credentials.system ? 'system' : credentials.domain_id ? 'domain' : 'project';

/** Whether a rule admits callers of this scope at all. */
export const admitsScope = (rule: ActiveRule, credentials: Credentials): boolean =>
  rule.scopes === null || rule.scopes.includes(scopeOfCredentials(credentials));
