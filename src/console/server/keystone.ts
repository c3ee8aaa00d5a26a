/** Signing in at Keystone on the caller's behalf: a password, an application credential or a token becomes a token. */
import { fetchReason } from '../../model/error-texts';
import { ApiAway, ApiRefusal } from './api';

export type Scope =
  | { readonly is: 'system' }
  | {
      readonly is: 'project';
      readonly project: { readonly id: string } | { readonly name: string; readonly domain: string };
    }
  | { readonly is: 'default' };

export type Identity =
  | { readonly is: 'password'; readonly user: string; readonly domain: string; readonly password: string }
  | { readonly is: 'application_credential'; readonly id: string; readonly secret: string }
  | { readonly is: 'token'; readonly token: string };

type KeystoneToken = {
  readonly token: string;
  readonly name: string;
  readonly scope: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
};

type TokenBody = {
  readonly token?: {
    readonly expires_at?: string;
    readonly user?: { readonly name?: string };
    readonly project?: { readonly name?: string };
    readonly system?: unknown;
  };
};

const loginLimitMs = 30_000;

const methodOf = (identity: Identity): object => {
  switch (identity.is) {
    case 'password':
      return {
        methods: ['password'],
        password: {
          user: { name: identity.user, domain: { name: identity.domain }, password: identity.password },
        },
      };
    case 'application_credential':
      return {
        methods: ['application_credential'],
        application_credential: { id: identity.id, secret: identity.secret },
      };
    case 'token':
      return { methods: ['token'], token: { id: identity.token } };
  }
};

const scopeOf = (scope: Scope): object => {
  switch (scope.is) {
    case 'system':
      return { scope: { system: { all: true } } };
    case 'project':
      return {
        scope: {
          project:
            'id' in scope.project
              ? { id: scope.project.id }
              : { name: scope.project.name, domain: { name: scope.project.domain } },
        },
      };
    case 'default':
      return {};
  }
};

export type Keystone = {
  /** Throws ApiRefusal (the credentials are refused), ApiAway. */
  signIn(identity: Identity, scope: Scope): Promise<KeystoneToken>;
  /** Projects that the caller may be scoped to. Throws ApiAway. */
  projects(token: string): Promise<readonly { readonly id: string; readonly name: string }[]>;
  /** Ends a token; whatever goes wrong is left to the token's own end. */
  revoke(token: string): Promise<void>;
};

/** @param url of the identity service, with or without /v3 */
export const createKeystone = (url: string): Keystone => {
  const base = `${url.replace(/\/+$/, '').replace(/\/v3$/, '')}/v3`;
  const exchange = (path: string, init: RequestInit): Promise<Response> =>
    fetch(`${base}${path}`, { ...init, redirect: 'error', signal: AbortSignal.timeout(loginLimitMs) }).catch(
      (thrown) => {
        throw new ApiAway(`The identity service did not answer: ${fetchReason(thrown)}.`);
      },
    );
  return {
    async signIn(identity, scope) {
      const reply = await exchange('/auth/tokens', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ auth: { identity: methodOf(identity), ...scopeOf(scope) } }),
      });
      const token = reply.headers.get('x-subject-token');
      if (reply.status >= 500) throw new ApiAway(`The identity service answered ${reply.status}.`);
      if (!reply.ok || !token)
        throw new ApiRefusal(401, 'The identity service refused these credentials, or this scope.');
      const { token: body } = (await reply.json()) as TokenBody;
      return {
        token,
        name: body?.user?.name ?? 'unnamed',
        scope: body?.project?.name ?? (body?.system ? 'system' : 'no project'),
        until: Date.parse(body?.expires_at ?? '') || Date.now(),
      };
    },
    async projects(token) {
      const reply = await exchange('/auth/projects', {
        headers: { 'x-auth-token': token, accept: 'application/json' },
      });
      if (!reply.ok) return [];
      const { projects = [] } = (await reply.json()) as { projects?: { id: string; name: string }[] };
      return projects.map(({ id, name }) => ({ id, name }));
    },
    async revoke(token) {
      await exchange('/auth/tokens', {
        method: 'DELETE',
        headers: { 'x-auth-token': token, 'x-subject-token': token },
      }).catch(() => undefined);
    },
  };
};
