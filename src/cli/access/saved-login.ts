/** The login that `temper login` keeps: tokens with their client and API, in a file for its user alone. */
import { join } from 'node:path';
import { asDocument } from '../../model/document';
import { jsonObject } from '../../model/error-texts';
import type { CliDeps, Trust } from '../deps';
import { stop } from '../faults';
import { asServiceAccount, type OidcClient, type OidcTokens, refreshed } from './oidc';

export type SavedLogin = {
  /** The only API that the token is sent to. */
  readonly url: string;
  readonly client: OidcClient;
  readonly tokens: OidcTokens;
};

const isText = (value: unknown): boolean => typeof value === 'string';

// Without a schema of zod, because the client package does not contain zod.
const isSavedLogin = (value: unknown): value is SavedLogin => {
  const { url, client, tokens } = asDocument(value);
  const { issuer, client_id, scope, resource } = asDocument(client);
  const { access_token, refresh_token, ends } = asDocument(tokens);
  return (
    [url, issuer, client_id, access_token].every(isText) &&
    [scope, resource, refresh_token].every((text) => text === undefined || isText(text)) &&
    (ends === null || typeof ends === 'number')
  );
};

/** A token is renewed before its end, because a request takes time. */
const earlyMs = 30_000;

const fileOf = ({ env, home }: CliDeps): string =>
  join(env.XDG_CONFIG_HOME || join(home, '.config'), 'temper', 'login.json');

/** Undefined without a login. Throws CliFault (usage). */
export const savedLogin = (deps: CliDeps): SavedLogin | undefined => {
  const text = deps.readFile(fileOf(deps));
  if (text === undefined) return undefined;
  const saved = jsonObject(text);
  if (isSavedLogin(saved)) return saved;
  return stop('usage', `${fileOf(deps)} is no login of this command. Delete it, and run "temper login" again.`);
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
