/** The identity strategies that the settings ask for, with every missing companion setting named. */
import {
  createHttpBasic,
  createIdentity,
  createKeystone,
  createNoauth,
  createStaticTokens,
  fileSource,
  type Identity,
  type Strategy,
} from '../identity';
import type { Logger } from '../observe/log';
import type { ApiConfig } from './config';

type Maker = {
  readonly needs: readonly (keyof ApiConfig)[];
  readonly make: (config: ApiConfig, log: Logger) => Strategy | Promise<Strategy>;
};

const faults = (log: Logger) => (error: unknown) =>
  log.error('identity file not reloaded, the old one stays in force', { error });

const makers: Readonly<Record<ApiConfig['TEMPER_AUTH_STRATEGY'][number], Maker>> = {
  keystone: {
    needs: ['TEMPER_IDENTITY_URL', 'TEMPER_IDENTITY_USERNAME', 'TEMPER_IDENTITY_PASSWORD'],
    make: (config) =>
      createKeystone({
        identityUrl: config.TEMPER_IDENTITY_URL!,
        self: {
          username: config.TEMPER_IDENTITY_USERNAME!,
          password: config.TEMPER_IDENTITY_PASSWORD!,
          scope: { project: { name: config.TEMPER_IDENTITY_PROJECT } },
        },
        cacheMs: config.TEMPER_TOKEN_CACHE_SECONDS * 1_000,
      }),
  },
  http_basic: {
    needs: ['TEMPER_HTPASSWD_FILE', 'TEMPER_USERS_FILE'],
    make: (config, log) =>
      createHttpBasic({
        htpasswd: fileSource(config.TEMPER_HTPASSWD_FILE!),
        users: fileSource(config.TEMPER_USERS_FILE!),
        onFault: faults(log),
      }),
  },
  static_tokens: {
    needs: ['TEMPER_TOKENS_FILE'],
    make: (config, log) => createStaticTokens({ tokens: fileSource(config.TEMPER_TOKENS_FILE!), onFault: faults(log) }),
  },
  noauth: { needs: [], make: () => createNoauth() },
};

const loopback = /^(127\.|::1$|localhost$)/;

/** @throws Error with one line per fault, so that an operator mends all at once */
export const identityFrom = async (config: ApiConfig, log: Logger): Promise<Identity & { close(): Promise<void> }> => {
  const chosen = config.TEMPER_AUTH_STRATEGY;
  const missing = chosen.flatMap((name) =>
    makers[name].needs.filter((key) => !config[key]).map((key) => `strategy ${name} needs ${key}`),
  );
  if (chosen.includes('noauth') && !loopback.test(config.TEMPER_API_HOST) && !config.TEMPER_NOAUTH_BEYOND_LOOPBACK)
    missing.push(
      `noauth lets anybody who reaches ${config.TEMPER_API_HOST} do anything; listen on 127.0.0.1 or set TEMPER_NOAUTH_BEYOND_LOOPBACK=true`,
    );
  if (missing.length > 0) throw new Error(missing.join('; '));
  const strategies = await Promise.all(chosen.map((name) => makers[name].make(config, log)));
  const identity = createIdentity(strategies);
  return {
    ...identity,
    close: async () => {
      await Promise.all(strategies.map((strategy) => strategy.close?.()));
    },
  };
};
