/** Settings of the console, an API client. */
import { count, keys, nonEmptyText, port, webUrl } from './kinds';

export const consoleSettings = {
  TEMPER_CONSOLE_HOST: nonEmptyText.default('127.0.0.1').describe('Address that the console listens on.'),
  TEMPER_CONSOLE_PORT: port.default(6380).describe('Its port.'),
  TEMPER_CONSOLE_URL: webUrl
    .optional()
    .describe(
      'Address at which browsers reach the console, such as https://temper.example.org. Its cookie is sent over TLS alone unless this is a loopback address. http:// with the two above when unset.',
    ),
  TEMPER_CONSOLE_API_URL: webUrl.describe('The API as the console reaches it, without /v1.'),
  TEMPER_IDENTITY_URL: webUrl
    .optional()
    .describe('Keystone, with /v3; its users cannot sign in with a password when unset.'),
  TEMPER_CONSOLE_OIDC_ISSUER: webUrl
    .optional()
    .describe('OIDC server at which people sign in to the console; none when unset.'),
  TEMPER_CONSOLE_OIDC_CLIENT_ID: nonEmptyText.default('temper-console').describe('The console’s client there.'),
  TEMPER_CONSOLE_OIDC_CLIENT_SECRET: nonEmptyText.optional().describe('Its secret.'),
  TEMPER_CONSOLE_OIDC_SCOPE: nonEmptyText.default('openid profile').describe('Scopes that it asks for.'),
  TEMPER_CONSOLE_OIDC_RESOURCE: nonEmptyText
    .optional()
    .describe('Audience that tokens are to have (RFC 8707), for servers that need it in the request.'),
  TEMPER_CONSOLE_KEY: keys.describe(
    'What seals the cookies that callers are signed in with: <id>:<base64 of 32 bytes>, several separated by commas; the first one seals, all open. The same in every process of the console.',
  ),
  TEMPER_CONSOLE_SESSION_HOURS: count(1, 168)
    .default(12)
    .describe('How long a caller stays signed in at most; less if its token ends before.'),
  TEMPER_CONSOLE_DEMO: nonEmptyText
    .optional()
    .describe(
      'A clouds.yaml whose users are signed in with one click, for demos: every visitor may be any of them. Only if TEMPER_CONSOLE_URL is a loopback address. None when unset.',
    ),
};
