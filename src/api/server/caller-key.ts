/** Key of a caller for counts and records. */
import type { Caller } from '../../model/access/callers';

type KnownCaller = Pick<Caller, 'strategy' | 'user_id' | 'user_name' | 'project_id' | 'system_scope' | 'domain_id'>;

/** Roles are not part of the key. */
export const callerKey = ({ strategy, user_id, user_name, project_id, system_scope, domain_id }: KnownCaller): string =>
  JSON.stringify([strategy, user_id ?? user_name, project_id, system_scope, domain_id]);
