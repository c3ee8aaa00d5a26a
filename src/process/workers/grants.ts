/** Whether the person by whose rights a rollout runs still has them: as the users file says, or for so long after their last act. */
import { readUsers } from '../../identity';
import { expandRoles } from '../../model/access/callers';
import type { Authority } from '../../rollouts/contract';
import type { ControlConfig } from '../settings/config';

type GrantSettings = Pick<ControlConfig, 'TEMPER_ROLLOUT_GRANT_HOURS' | 'TEMPER_USERS_FILE'>;

const hour = 3_600_000;

/**
 * Asks the users file about callers that it knows, each time anew: a role that is taken out of it begins nothing more. Others are
 * believed for TEMPER_ROLLOUT_GRANT_HOURS: identity services give no roles without a token of the person.
 */
export const grantsFrom = (
  { TEMPER_ROLLOUT_GRANT_HOURS: hours, TEMPER_USERS_FILE: file }: GrantSettings,
  now: () => number = Date.now,
): Authority => {
  return async (granted, granted_at) => {
    if (now() - granted_at.getTime() > hours * hour) return 'lost';
    const inFile = granted.strategy === 'http_basic' || granted.strategy === 'static_tokens';
    if (file === undefined || !inFile || granted.user_id === null) return 'holds';
    const users = await readUsers(file).catch(() => undefined);
    if (!users) return 'silent';
    const standing = users.get(granted.user_id);
    if (!standing) return granted.strategy === 'static_tokens' ? 'holds' : 'lost';
    const roles = expandRoles(standing.roles);
    const scope =
      (standing.project ?? null) === granted.project_id && (standing.system ?? null) === granted.system_scope;
    return scope && granted.roles.every((role) => roles.includes(role)) ? 'holds' : 'lost';
  };
};
