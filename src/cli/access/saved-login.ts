/** The login that `temper login` keeps: tokens with their client and API, in a file for its user alone. */
import { join } from 'node:path';
import { z } from 'zod';
import type { CliDeps, Trust } from '../deps';
import { stop } from '../faults';
import { asServiceAccount, type OidcClient, refreshed } from './oidc';

const Saved = z.object({
  /** The only API that the token is sent to. */
  url: z.string(),
  client: z.object({
    issuer: z.string(),
    client_id: z.string(),
    scope: z.string().optional(),
    resource: z.string().optional(),
  }),
  tokens: z.object({
    access_token: z.string(),
    refresh_token: z.string().optional(),
    ends: z.number().nullable(),
  }),
});
export type SavedLogin = z.infer<typeof Saved>;

/** A token is renewed before its end, because a request takes time. */
const earlyMs = 30_000;

const fileOf = ({ env, home }: CliDeps): string =>
  join(env.XDG_CONFIG_HOME || join(home, '.config'), 'temper', 'login.json');

/** Undefined without a login. Throws CliFault (usage). */
export const savedLogin = (deps: CliDeps): SavedLogin | undefined => {
  const text = deps.readFile(fileOf(deps));
  if (text === undefined) return undefined;
  try {
    return Saved.parse(JSON.parse(text));
  } catch {
    return stop('usage', `${fileOf(deps)} is no login of this command. Delete it, and run "temper login" again.`);
  }
};

/** @returns the file */
export const saveLogin = (deps: CliDeps, login: SavedLogin): string => {
  deps.keepSecret(fileOf(deps), `${JSON.stringify(login, null, 2)}\n`);
  return fileOf(deps);
};

export const forgetLogin = (deps: CliDeps): void => deps.removeFile(fileOf(deps));

/** Renews it if it ends soon. Throws CliFault. */
export const savedToken = async (deps: CliDeps, trust: Trust, login: SavedLogin): Promise<string> => {
  const { client, tokens } = login;
  if (tokens.ends === null || Date.now() < tokens.ends - earlyMs) return tokens.access_token;
  if (tokens.refresh_token === undefined) return stop('refused', 'Your login has ended: run "temper login" again.');
  const fresh = await refreshed(deps, trust, client, tokens.refresh_token);
  saveLogin(deps, { ...login, tokens: fresh });
  return fresh.access_token;
};

/** Throws CliFault. */
export const serviceToken = async (deps: CliDeps, trust: Trust, client: OidcClient): Promise<string> =>
  (await asServiceAccount(deps, trust, client)).access_token;
