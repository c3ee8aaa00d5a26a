/** The noauth strategy: each caller is the operator. */
import { anonymous, expandRoles } from '../model/access/callers';
import type { Strategy } from './strategy';

/** Accepts any credential: Python clients without authentication send the token "notused". */
export const createNoauth = (): Strategy => {
  const caller = {
    ...anonymous,
    user_id: 'noauth',
    user_name: 'noauth',
    system_scope: 'all',
    roles: expandRoles(['admin']),
    all_powerful: true,
    strategy: 'noauth',
  } as const;
  return { name: 'noauth', reads: 'nothing', challenge: '', identify: async () => ({ is: 'known', caller }) };
};
