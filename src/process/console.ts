/** Settings of the console. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ConsoleSettings, DemoPerson } from '../console';
import { isLoopback } from '../model/access/loopback';
import { fileReason } from '../model/file-faults';
import { withoutVersion } from '../model/texts';
import type { ConsoleConfig } from './settings/config';
import { ConfigFault } from './settings/fault';

const clouds = z.object({
  clouds: z.record(
    z.string(),
    z.object({
      auth: z.object({ username: z.string(), password: z.string(), project_name: z.string().optional() }),
    }),
  ),
});

/** The ConfigFault omits the file's content, because it has passwords. */
const demoPeople = (file: string): DemoPerson[] => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new ConfigFault([`TEMPER_CONSOLE_DEMO: ${file} could not be read${fileReason(thrown)}.`]);
  }
  let found: z.infer<typeof clouds>;
  try {
    found = clouds.parse(parse(text));
  } catch {
    throw new ConfigFault([`TEMPER_CONSOLE_DEMO: ${file} is no clouds.yaml of users with passwords.`]);
  }
  return Object.entries(found.clouds).map(([label, { auth }]) => ({
    label,
    user: auth.username,
    password: auth.password,
    project: auth.project_name,
  }));
};

/** Throws ConfigFault. */
const oidcSettings = (config: ConsoleConfig): ConsoleSettings['oidc'] => {
  const { TEMPER_CONSOLE_OIDC_ISSUER: issuer, TEMPER_CONSOLE_OIDC_CLIENT_SECRET: clientSecret } = config;
  if (issuer === undefined) return undefined;
  if (clientSecret === undefined)
    throw new ConfigFault(['TEMPER_CONSOLE_OIDC_CLIENT_SECRET is not set. TEMPER_CONSOLE_OIDC_ISSUER needs it.']);
  if (!issuer.startsWith('https:') && !isLoopback(new URL(issuer).hostname))
    throw new ConfigFault(['TEMPER_CONSOLE_OIDC_ISSUER must begin with https://, because people sign in there.']);
  return {
    issuer,
    clientSecret,
    clientId: config.TEMPER_CONSOLE_OIDC_CLIENT_ID,
    scope: config.TEMPER_CONSOLE_OIDC_SCOPE,
    resource: config.TEMPER_CONSOLE_OIDC_RESOURCE,
  };
};

/** Throws ConfigFault. */
export const consoleSettings = (config: ConsoleConfig): ConsoleSettings => {
  const host = config.TEMPER_CONSOLE_HOST.includes(':')
    ? `[${config.TEMPER_CONSOLE_HOST}]`
    : config.TEMPER_CONSOLE_HOST;
  const publicUrl = config.TEMPER_CONSOLE_URL ?? `http://${host}:${config.TEMPER_CONSOLE_PORT}`;
  const loopback = isLoopback(new URL(publicUrl).hostname);
  if (config.TEMPER_CONSOLE_DEMO !== undefined && !(loopback && isLoopback(host)))
    throw new ConfigFault([
      'TEMPER_CONSOLE_DEMO signs every visitor in without a password: it is only possible if TEMPER_CONSOLE_HOST and TEMPER_CONSOLE_URL are loopback addresses.',
    ]);
  const oidc = oidcSettings(config);
  return {
    ...(oidc && { oidc }),
    apiUrl: withoutVersion(config.TEMPER_CONSOLE_API_URL, 'v1'),
    identityUrl: config.TEMPER_IDENTITY_URL,
    publicUrl,
    keys: [...config.TEMPER_CONSOLE_KEY.values()].map((key) => key.toString('base64')),
    lifeMs: config.TEMPER_CONSOLE_SESSION_HOURS * 3_600_000,
    secure: !loopback,
    ...(config.TEMPER_CONSOLE_DEMO !== undefined && { demo: demoPeople(config.TEMPER_CONSOLE_DEMO) }),
  };
};
