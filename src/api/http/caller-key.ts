/** Key of a caller, for counts and records per caller. */
import type { Caller } from '../../model/access/callers';

type KnownCaller = Pick<Caller, 'strategy' | 'user_id' | 'user_name' | 'project_id' | 'system_scope' | 'domain_id'>;

/** The same user, scope and strategy have the same key. Roles are not part of it. */
export const callerKey = ({ strategy, user_id, user_name, project_id, system_scope, domain_id }: KnownCaller): string =>
  JSON.stringify([strategy, user_id ?? user_name, project_id, system_scope, domain_id]);
