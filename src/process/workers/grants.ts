/** Whether the person by whose rights a rollout runs still has them: as the users file or Keystone says, or for so long after their last act. */
import { type RoleLookup, readUsers } from '../../identity';
import { type Caller, expandRoles } from '../../model/access/callers';
import type { Authority } from '../../rollouts/contract';
import type { ControlConfig } from '../settings/config';

type GrantSettings = Pick<
  ControlConfig,
  'TEMPER_ROLLOUT_GRANT_HOURS' | 'TEMPER_USERS_FILE' | 'TEMPER_TOKEN_OUTAGE_SECONDS'
>;

const hour = 3_600_000;

/** What is known of a person now; `unknown` where nothing can say it without a credential of the person. */
type GrantStanding = 'holds' | 'lost' | 'unknown' | 'away';

const has = (roles: readonly string[], granted: Caller): GrantStanding => {
  const held = new Set(roles.map((role) => role.toLowerCase()));
  return granted.roles.every((role) => held.has(role.toLowerCase())) ? 'holds' : 'lost';
};

const byFile = async (file: string | undefined, granted: Caller): Promise<GrantStanding> => {
  if (file === undefined || granted.user_id === null) return 'unknown';
  const users = await readUsers(file).catch(() => undefined);
  if (!users) return 'away';
  const standing = users.get(granted.user_id);
  if (!standing) return granted.strategy === 'static_tokens' ? 'unknown' : 'lost';
  const scope = (standing.project ?? null) === granted.project_id && (standing.system ?? null) === granted.system_scope;
  return scope ? has(expandRoles(standing.roles), granted) : 'lost';
};

const byKeystone = async (lookup: Pick<RoleLookup, 'rolesOf'> | undefined, granted: Caller): Promise<GrantStanding> => {
  const { user_id, project_id, system_scope } = granted;
  if (!lookup || user_id === null || (project_id === null && system_scope === null)) return 'unknown';
  const answer = await lookup.rolesOf(user_id, project_id === null ? { system: 'all' } : { project: project_id });
  switch (answer.is) {
    case 'known':
      return has(answer.roles, granted);
    case 'denied':
      return 'unknown';
    case 'down':
      return 'away';
  }
};

/**
 * Asks the users file each time anew, and Keystone as often as its answers are believed: a role that is taken away begins nothing more.
 * Others are believed for TEMPER_ROLLOUT_GRANT_HOURS after their last act. While nothing answers, nothing is begun.
 */
export const grantsFrom = (
  settings: GrantSettings,
  lookup?: Pick<RoleLookup, 'rolesOf'>,
  now: () => number = Date.now,
): Authority => {
  const { TEMPER_ROLLOUT_GRANT_HOURS: hours, TEMPER_USERS_FILE: file } = settings;
  const outageMs = settings.TEMPER_TOKEN_OUTAGE_SECONDS * 1_000;
  let awaySince: number | undefined;
  return async (granted, granted_at) => {
    const inFile = granted.strategy === 'http_basic' || granted.strategy === 'static_tokens';
    const standing = await (inFile
      ? byFile(file, granted)
      : granted.strategy === 'keystone'
        ? byKeystone(lookup, granted)
        : 'unknown');
    if (standing !== 'away') awaySince = undefined;
    switch (standing) {
      case 'away':
        awaySince ??= now();
        return now() - awaySince > outageMs ? 'silent' : 'waits';
      case 'unknown':
        return now() - granted_at.getTime() > hours * hour ? 'lost' : 'holds';
      default:
        return standing;
    }
  };
};
