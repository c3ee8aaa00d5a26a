/** Builds the configured identity strategies. */
import {
  createHttpBasic,
  createIdentity,
  createKeystone,
  createNoauth,
  createOidc,
  createStaticTokens,
  fileSource,
  type Identity,
  type ServiceUser,
  type Strategy,
} from '../../identity';
import { anonymous } from '../../model/access/callers';
import { isLoopback } from '../../model/access/loopback';
import { isTemperError } from '../../model/errors';
import type { Logger } from '../../observe/log';
import type { ApiConfig } from '../settings/config';
import { ConfigFault, together } from '../settings/fault';

type Maker = {
  readonly needs: readonly (keyof ApiConfig)[];
  readonly make: (config: ApiConfig, log: Logger) => Strategy | Promise<Strategy>;
};

const notReloaded = (log: Logger) => (error: unknown) =>
  log.error('identity file not reloaded, the old one stays in force', { error });

/** Id of Keystone's first domain, often given instead of its name, `Default`. */
const firstDomain = 'default';

type ServiceUserSettings = Pick<
  ApiConfig,
  | 'TEMPER_IDENTITY_DOMAIN'
  | 'TEMPER_IDENTITY_USERNAME'
  | 'TEMPER_IDENTITY_PASSWORD'
  | 'TEMPER_IDENTITY_SYSTEM'
  | 'TEMPER_IDENTITY_PROJECT'
>;

/** Name and password are only set if the settings have them. */
export const serviceUserOf = (config: ServiceUserSettings): ServiceUser => {
  const given = config.TEMPER_IDENTITY_DOMAIN;
  const domain = given === firstDomain ? { id: given } : { name: given };
  return {
    username: config.TEMPER_IDENTITY_USERNAME!,
    password: config.TEMPER_IDENTITY_PASSWORD!,
    userDomain: domain,
    scope: config.TEMPER_IDENTITY_SYSTEM
      ? { system: 'all' }
      : { project: { name: config.TEMPER_IDENTITY_PROJECT, domain } },
  };
};

const makers: Readonly<Record<ApiConfig['TEMPER_AUTH_STRATEGY'][number], Maker>> = {
  keystone: {
    needs: ['TEMPER_IDENTITY_URL', 'TEMPER_IDENTITY_USERNAME', 'TEMPER_IDENTITY_PASSWORD'],
    make: (config, log) =>
      createKeystone({
        identityUrl: config.TEMPER_IDENTITY_URL!,
        publicUrl: config.TEMPER_IDENTITY_PUBLIC_URL,
        self: serviceUserOf(config),
        cacheMs: config.TEMPER_TOKEN_CACHE_SECONDS * 1_000,
        outageMs: config.TEMPER_TOKEN_OUTAGE_SECONDS * 1_000,
        adminProjects: config.TEMPER_IDENTITY_ADMIN_PROJECTS,
        onUnknownProjects: (reason) =>
          log.warn('projects in which admins are admins too cannot be found out', { reason }),
        onOutage: (reason) => log.warn('the identity service is down, known tokens go on', { reason }),
      }),
  },
  oidc: {
    needs: ['TEMPER_OIDC_FILE'],
    make: (config, log) =>
      createOidc({
        issuers: fileSource(config.TEMPER_OIDC_FILE!),
        cacheMs: config.TEMPER_TOKEN_CACHE_SECONDS * 1_000,
        outageMs: config.TEMPER_TOKEN_OUTAGE_SECONDS * 1_000,
        onOutage: (reason) => log.warn('an issuer is away, its known keys go on', { reason }),
        onFault: notReloaded(log),
      }),
  },
  http_basic: {
    needs: ['TEMPER_HTPASSWD_FILE', 'TEMPER_USERS_FILE'],
    make: (config, log) =>
      createHttpBasic({
        htpasswd: fileSource(config.TEMPER_HTPASSWD_FILE!),
        users: fileSource(config.TEMPER_USERS_FILE!),
        onFault: notReloaded(log),
      }),
  },
  static_tokens: {
    needs: ['TEMPER_TOKENS_FILE'],
    make: (config, log) =>
      createStaticTokens({
        tokens: fileSource(config.TEMPER_TOKENS_FILE!),
        users: config.TEMPER_USERS_FILE === undefined ? undefined : fileSource(config.TEMPER_USERS_FILE),
        onFault: notReloaded(log),
      }),
  },
  noauth: { needs: [], make: () => createNoauth() },
};

const fileSettings = ['TEMPER_OIDC_FILE', 'TEMPER_HTPASSWD_FILE', 'TEMPER_USERS_FILE', 'TEMPER_TOKENS_FILE'] as const;

const fileFault = (config: ApiConfig, thrown: unknown): unknown => {
  if (!isTemperError(thrown, 'IdentityFileInvalid')) return thrown;
  const setting = fileSettings.find((key) => config[key] === thrown.facts.file);
  return new ConfigFault([`${setting ?? 'TEMPER_AUTH_STRATEGY'}: ${thrown.message} Mend it, or name another file.`]);
};

const companionFaults = (config: ApiConfig): string[] => {
  const chosen = config.TEMPER_AUTH_STRATEGY;
  const missing = chosen.flatMap((name) =>
    makers[name].needs
      .filter((key) => !config[key])
      .map((key) => `${key} is not set. Strategy ${name} of TEMPER_AUTH_STRATEGY needs it.`),
  );
  const open =
    chosen.includes('noauth') && !config.TEMPER_NOAUTH_BEYOND_LOOPBACK && !isLoopback(config.TEMPER_API_HOST);
  if (!open) return missing;
  return [
    ...missing,
    `TEMPER_API_HOST is ${config.TEMPER_API_HOST}, and under noauth every caller that reaches it may do anything. ` +
      'Listen on 127.0.0.1, choose another TEMPER_AUTH_STRATEGY, or set TEMPER_NOAUTH_BEYOND_LOOPBACK=true.',
  ];
};

/** @throws ConfigFault with all faults of settings and files */
export const identityFrom = async (config: ApiConfig, log: Logger): Promise<Identity> => {
  const faults = companionFaults(config);
  if (faults.length > 0) throw new ConfigFault(faults);
  const make = async (name: Strategy['name']): Promise<Strategy> => {
    try {
      return await makers[name].make(config, log);
    } catch (thrown) {
      throw fileFault(config, thrown);
    }
  };
  return createIdentity(await together<Strategy[]>(...config.TEMPER_AUTH_STRATEGY.map(make)));
};

/** For routes of ramdisks, which check no credentials. Unknown paths count by address. */
export const noLogin = async (): Promise<Identity> => ({
  identify: async ({ spend }) => {
    await spend?.();
    return anonymous;
  },
  challenge: '',
  strategies: [],
  close: async () => {},
});
