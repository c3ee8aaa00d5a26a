/** Keystone login: exchanges a password, an application credential or a token for a token. */
import { withoutVersion } from '../../model/texts';
import type { Fields } from '../views';
import { ApiAway, ApiRefusal, answerOf, objectIn } from './api';

/** Identity and scope in Keystone's form. Without a scope, that of the credential applies. */
export type Login = { readonly identity: object; readonly scope?: object };

type PasswordGiven = { readonly user: string; readonly password: string; readonly domain?: string; readonly project?: string }; // biome-ignore format: one row

/** @param given without a project the scope is the system */
export const passwordLogin = ({ user, password, domain = 'Default', project }: PasswordGiven): Login => ({
  identity: { methods: ['password'], password: { user: { name: user, domain: { name: domain }, password } } },
  scope: project ? { project: { name: project, domain: { name: domain } } } : { system: { all: true } },
});

export const credentialLogin = (id: string, secret: string): Login => ({
  identity: { methods: ['application_credential'], application_credential: { id, secret } },
});

/** @param project its id; the system if empty */
export const scopedLogin = (token: string, project: string): Login => ({
  identity: { methods: ['token'], token: { id: token } },
  scope: project ? { project: { id: project } } : { system: { all: true } },
});

/** `until`: milliseconds since the epoch. */
type KeystoneToken = Fields<'token' | 'name' | 'scope', string> & { readonly until: number };

type Named = { readonly name?: string };
type TokenBody = Partial<Fields<'user' | 'project', Named> & Fields<'expires_at', string> & Fields<'system', unknown>>;
type ProjectList = { readonly projects?: readonly { readonly id: string; readonly name: string }[] };

const who = 'The identity service';
/** Bytes. The longest response lists a caller's projects. */
const longestAnswer = 4 * 1024 * 1024;

export type Keystone = {
  /** Throws ApiRefusal (refused credentials), ApiAway. */
  signIn(login: Login): Promise<KeystoneToken>;
  /** Lists projects that the caller can scope to. Throws ApiAway. */
  projects(token: string): Promise<readonly { readonly id: string; readonly name: string }[]>;
  /** Ignores errors: the token then expires later. */
  revoke(token: string): Promise<void>;
};

/** @param url of Keystone, with or without /v3 @param limitMs of one response, body included */
export const createKeystone = (url: string, limitMs = 30_000): Keystone => {
  const base = `${withoutVersion(url, 'v3')}/v3`;
  const exchange = (path: string, init: RequestInit): Promise<Response> =>
    answerOf(who, `${base}${path}`, { ...init, signal: AbortSignal.timeout(limitMs) });
  return {
    async signIn(auth) {
      const reply = await exchange('/auth/tokens', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ auth }),
      });
      const token = reply.headers.get('x-subject-token');
      if (reply.status >= 500) throw new ApiAway(`${who} answered ${reply.status}.`);
      if (!reply.ok || !token)
        throw new ApiRefusal(401, 'The identity service refused these credentials, or this scope.');
      const { token: body } = await objectIn<{ token?: TokenBody }>(who, reply, longestAnswer);
      return {
        token,
        name: body?.user?.name ?? 'unnamed',
        scope: body?.project?.name ?? (body?.system ? 'system' : 'no project'),
        until: Date.parse(body?.expires_at ?? '') || Date.now(),
      };
    },
    async projects(token) {
      const headers = { 'x-auth-token': token, accept: 'application/json' };
      const reply = await exchange('/auth/projects', { headers });
      if (!reply.ok) return [];
      const { projects = [] } = await objectIn<ProjectList>(who, reply, longestAnswer);
      return projects.map(({ id, name }) => ({ id, name }));
    },
    async revoke(token) {
      const headers = { 'x-auth-token': token, 'x-subject-token': token };
      await exchange('/auth/tokens', { method: 'DELETE', headers }).catch(() => undefined);
    },
  };
};
