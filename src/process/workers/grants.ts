/** Checks that users who started or approved a rollout still have their rights. */
import { createRoleLookup, type RoleLookup, readUsers, type UserRoles } from '../../identity';
import { type Caller, expandRoles } from '../../model/access/callers';
import type { Authority } from '../../rollouts/contract';
import { serviceUserOf } from '../api/identity';
import type { ControlConfig } from '../settings/config';

type GrantSettings = Pick<
  ControlConfig,
  'TEMPER_ROLLOUT_GRANT_HOURS' | 'TEMPER_USERS_FILE' | 'TEMPER_TOKEN_OUTAGE_SECONDS'
>;

const hour = 3_600_000;

type LookupSettings = Parameters<typeof serviceUserOf>[0] &
  Pick<ControlConfig, 'TEMPER_IDENTITY_URL' | 'TEMPER_TOKEN_CACHE_SECONDS'>;

/** Undefined without settings of the service user. */
export const roleLookupFrom = (config: LookupSettings): RoleLookup | undefined => {
  const {
    TEMPER_IDENTITY_URL: identityUrl,
    TEMPER_IDENTITY_USERNAME: user,
    TEMPER_IDENTITY_PASSWORD: password,
  } = config;
  if (identityUrl === undefined || user === undefined || password === undefined) return undefined;
  return createRoleLookup({
    identityUrl,
    self: serviceUserOf(config),
    cacheMs: config.TEMPER_TOKEN_CACHE_SECONDS * 1_000,
  });
};

/**
 * `unknown`: cannot be checked without the user's credential. `unasked`: no source has such users. `away`: the source
 * does not respond.
 */
type GrantStanding = 'holds' | 'lost' | 'unknown' | 'unasked' | 'away';

const has = (roles: readonly string[], wanted: readonly string[]): GrantStanding => {
  const held = new Set(roles.map((role) => role.toLowerCase()));
  return wanted.every((role) => held.has(role.toLowerCase())) ? 'holds' : 'lost';
};

const standingBy = (answer: UserRoles, wanted: readonly string[]): GrantStanding => {
  switch (answer.is) {
    case 'known':
      return has(answer.roles, wanted);
    case 'denied':
      return 'unknown';
    case 'down':
      return 'away';
  }
};

const byFile = async (file: string | undefined, granted: Caller): Promise<GrantStanding> => {
  if (file === undefined || granted.user_id === null) return 'unasked';
  const users = await readUsers(file).catch(() => undefined);
  if (!users) return 'away';
  const standing = users.get(granted.user_id);
  if (!standing) return granted.strategy === 'static_tokens' ? 'unknown' : 'lost';
  const scope = (standing.project ?? null) === granted.project_id && (standing.system ?? null) === granted.system_scope;
  return scope ? has(expandRoles(standing.roles), granted.roles) : 'lost';
};

const byKeystone = async (lookup: Pick<RoleLookup, 'rolesOf'> | undefined, granted: Caller): Promise<GrantStanding> => {
  const { user_id, project_id, system_scope, delegated } = granted;
  if (!lookup || user_id === null || (project_id === null && system_scope === null)) return 'unasked';
  const own = standingBy(
    await lookup.rolesOf(user_id, {
      ...(project_id === null ? { system: 'all' } : { project: project_id }),
      ...(delegated && { delegated }),
    }),
    granted.roles,
  );
  // Rules with admin_projects accept roles in other projects.
  for (const project of own === 'holds' ? (granted.admin_projects ?? []) : []) {
    const there = standingBy(await lookup.rolesOf(user_id, { project }), ['admin']);
    if (there !== 'holds') return there;
  }
  return own;
};

const standingOf = (
  file: string | undefined,
  lookup: Pick<RoleLookup, 'rolesOf'> | undefined,
  caller: Caller,
): Promise<GrantStanding> => {
  switch (caller.strategy) {
    case 'http_basic':
    case 'static_tokens':
      return byFile(file, caller);
    case 'keystone':
      return byKeystone(lookup, caller);
    default:
      return Promise.resolve('unasked');
  }
};

/** If no source can check a voter's roles, the vote counts until it expires. */
export const votersFrom =
  ({ TEMPER_USERS_FILE: file }: Pick<GrantSettings, 'TEMPER_USERS_FILE'>, lookup?: Pick<RoleLookup, 'rolesOf'>) =>
  async (caller: Caller): Promise<'holds' | 'lost' | 'away'> => {
    const standing = await standingOf(file, lookup, caller);
    return standing === 'lost' || standing === 'away' ? standing : 'holds';
  };

/**
 * Reads the users file each time, and Keystone at its cache interval: after a role is revoked, no target starts.
 * Other callers count for TEMPER_ROLLOUT_GRANT_HOURS after their last act, or until their OIDC token ends. During an outage nothing
 * starts.
 */
export const grantsFrom = (
  settings: GrantSettings,
  lookup?: Pick<RoleLookup, 'rolesOf'>,
  now: () => number = Date.now,
): Authority => {
  const { TEMPER_ROLLOUT_GRANT_HOURS: hours, TEMPER_USERS_FILE: file } = settings;
  const outageMs = settings.TEMPER_TOKEN_OUTAGE_SECONDS * 1_000;
  /** Start of the outage, by strategy. */
  const awaySince = new Map<Caller['strategy'], number>();
  return async (granted, granted_at) => {
    const standing = await standingOf(file, lookup, granted);
    const { strategy } = granted;
    switch (standing) {
      case 'away': {
        const since = awaySince.get(strategy) ?? now();
        awaySince.set(strategy, since);
        return now() - since > outageMs ? 'silent' : 'waits';
      }
      case 'unknown':
      case 'unasked':
        if (standing === 'unknown') awaySince.delete(strategy);
        if (granted.token_ends !== undefined && now() > Date.parse(granted.token_ends)) return 'lost';
        return now() - granted_at.getTime() > hours * hour ? 'lost' : 'holds';
      default:
        awaySince.delete(strategy);
        return standing;
    }
  };
};
