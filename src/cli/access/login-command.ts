/** `temper login` and `temper logout`: a login at an OIDC server, kept for later commands. */
import type { Command } from 'commander';
import { withoutVersion } from '../../model/texts';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { trustIn } from './clouds';
import { byBrowser, byDevice, revoke } from './oidc';
import { forgetLogin, savedLogin, saveLogin } from './saved-login';

type Given = {
  readonly url?: string;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly scope?: string;
  readonly resource?: string;
  readonly browser?: boolean;
};

const login = async ({ deps }: Context, given: Given): Promise<void> => {
  const { env } = deps;
  const needed = (value: string | undefined, says: string): string => value || stop('usage', says);
  const url = needed(given.url ?? env.TEMPER_URL, 'Nothing says where the API is: give --url, or set TEMPER_URL.');
  const client = {
    issuer: needed(given.issuer ?? env.TEMPER_OIDC_ISSUER, 'Give --issuer, or set TEMPER_OIDC_ISSUER.'),
    client_id: given.clientId ?? env.TEMPER_OIDC_CLIENT_ID ?? 'temper',
    scope: given.scope ?? env.TEMPER_OIDC_SCOPE ?? 'openid offline_access',
    resource: given.resource ?? env.TEMPER_OIDC_RESOURCE,
  };
  const tokens = await (given.browser ? byBrowser : byDevice)(deps, trustIn(deps), client);
  const file = saveLogin(deps, { url: withoutVersion(url, 'v1'), client, tokens });
  deps.err(`You are logged in. ${file} keeps the login; "temper logout" ends it.\n`);
};

const logout = async ({ deps }: Context): Promise<void> => {
  const saved = savedLogin(deps);
  if (!saved) return void deps.err('You are not logged in.\n');
  forgetLogin(deps);
  const { refresh_token, access_token } = saved.tokens;
  await revoke(deps, trustIn(deps), saved.client, refresh_token ?? access_token);
};

export const addLogin = (program: Command, acting: Acting): void => {
  program
    .command('login')
    .description('Log in at an OIDC server, and keep the login for later commands.')
    .option('--url <url>', 'the API; default TEMPER_URL')
    .option('--issuer <url>', 'the OIDC server; default TEMPER_OIDC_ISSUER')
    .option('--client-id <id>', 'of this command at the server; default TEMPER_OIDC_CLIENT_ID, or temper')
    .option('--scope <scopes>', 'default TEMPER_OIDC_SCOPE, or "openid offline_access"')
    .option('--resource <url>', 'audience of the token (RFC 8707); default TEMPER_OIDC_RESOURCE')
    .option('--browser', 'use a browser on this machine; default is a code for any device')
    .action(acting(login));
  program.command('logout').description('End the login that "temper login" made.').action(acting(logout));
};
