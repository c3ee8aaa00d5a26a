/** Who a caller is, as one text: for what is counted or kept per caller. */
import type { Caller } from '../../model/access/callers';

type KnownCaller = Pick<Caller, 'strategy' | 'user_id' | 'user_name' | 'project_id' | 'system_scope' | 'domain_id'>;

/** The same for the same user in the same scope by the same strategy; roles are no part of it. */
export const callerKey = ({ strategy, user_id, user_name, project_id, system_scope, domain_id }: KnownCaller): string =>
  JSON.stringify([strategy, user_id ?? user_name, project_id, system_scope, domain_id]);
