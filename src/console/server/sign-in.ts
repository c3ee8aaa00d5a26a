/** Sign-in by Keystone's token, or by credentials of the API itself. */
import type { Request, Response } from 'express';
import { ApiRefusal, apiOf, type Credentials } from './api';
import { type ConsoleDeps, type FormBody, fieldOf } from './context';
import { credentialLogin, type Keystone, type Login, passwordLogin, scopedLogin } from './keystone';
import type { Session } from './session';

/** Passwords are not trimmed: a blank may belong to one. */
const secretOf = (form: FormBody, name: string): string => {
  const value = form[name];
  return typeof value === 'string' ? value : '';
};

const keystoneLogin = ({ settings }: ConsoleDeps, form: FormBody): Login | undefined => {
  const [user, project, domain] = ['user', 'project', 'domain'].map((name) => fieldOf(form, name) || undefined);
  const person = settings.demo?.find(({ label }) => label === fieldOf(form, 'person'));
  switch (fieldOf(form, 'kind')) {
    case 'demo':
      return person && passwordLogin(person);
    case 'password':
      return passwordLogin({ user: user ?? '', password: secretOf(form, 'password'), domain, project });
    case 'application_credential':
      return credentialLogin(fieldOf(form, 'id'), secretOf(form, 'secret'));
    default:
      return undefined;
  }
};

type Begun = Pick<Session, 'credentials' | 'name' | 'scope' | 'keystone'> & { readonly until?: number };

/** Throws ApiRefusal, ApiAway. */
const sessionOfKeystone = async (keystone: Keystone, login: Login): Promise<Begun> => {
  const { token, ...who } = await keystone.signIn(login);
  return { ...who, credentials: { is: 'token', token }, keystone: true };
};

const ownCredentials = (form: FormBody): Credentials | undefined => {
  switch (fieldOf(form, 'kind')) {
    case 'token':
      return { is: 'token', token: fieldOf(form, 'token') };
    case 'basic':
      return { is: 'basic', username: fieldOf(form, 'user'), password: secretOf(form, 'password') };
    default:
      return undefined;
  }
};

/** A caller without any right is valid too. Throws ApiRefusal (401), ApiAway. */
const requireKnown = async (deps: ConsoleDeps, credentials: Credentials, browser: Request): Promise<void> => {
  await apiOf(deps.settings.apiUrl, credentials, browser).find('/v1/nodes', { limit: 1, fields: 'uuid' });
};

/** Throws ApiRefusal, ApiAway. */
const signedInBy = async (deps: ConsoleDeps, form: FormBody, browser: Request): Promise<Begun> => {
  const login = keystoneLogin(deps, form);
  if (login && deps.keystone) return sessionOfKeystone(deps.keystone, login);
  const credentials = ownCredentials(form);
  if (!credentials) throw new ApiRefusal(400, 'The console does not know this way of signing in.');
  const printable = /^[\x21-\x7e]+$/;
  if (credentials.is === 'token' && !printable.test(credentials.token)) throw new ApiRefusal(401, 'That is no token.');
  await requireKnown(deps, credentials, browser);
  const name = credentials.is === 'basic' ? credentials.username : 'token';
  return { credentials, name, scope: 'own credentials', keystone: false };
};

type Replaced = { readonly before: Session; readonly response: Response };

const replaceSession = async ({ sessions }: ConsoleDeps, { before, response }: Replaced, begun: Begun) => {
  sessions.end(response, before);
  await sessions.begin(response, begun);
};

/** Replaces the session. Throws ApiRefusal, ApiAway. */
export const signIn = async (deps: ConsoleDeps, form: FormBody, replaced: Replaced): Promise<void> =>
  replaceSession(deps, replaced, await signedInBy(deps, form, replaced.response.req));

/** Revokes the token if Keystone issued it for this session. */
export const signOut = async (deps: ConsoleDeps, request: Request, response: Response): Promise<void> => {
  const session = await deps.sessions.of(request);
  deps.sessions.end(response, session);
  if (session?.keystone && session.credentials?.is === 'token') await deps.keystone?.revoke(session.credentials.token);
};

/** Returns the start page for anything outside the console. */
export const placeWithin = (given: string): string =>
  /^\/(?![/\\])[^\s\\]*$/.test(given) && !given.startsWith('/sign-') ? given : '/';

/** Replaces the session by one in another scope. Throws ApiRefusal, ApiAway. */
export const changeScope = async (deps: ConsoleDeps, project: string, replaced: Replaced): Promise<void> => {
  const { before } = replaced;
  const { credentials } = before;
  if (!deps.keystone || !before.keystone || credentials?.is !== 'token') return;
  const login = scopedLogin(credentials.token, project);
  await replaceSession(deps, replaced, await sessionOfKeystone(deps.keystone, login));
  // A later sign-out revokes only the new token.
  await deps.keystone.revoke(credentials.token);
};
