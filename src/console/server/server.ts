/** Request handler of the console: headers, sessions, CSRF checks and error pages. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import express, { type Express, type NextFunction, type Request, type Response, Router } from 'express';
import { isLoopback } from '../../model/access/loopback';
import { readForm } from '../../model/forms';
import { awayPage, refusalPage, type SentForm, titleOf } from '../pages/faults';
import { signedInPage, signInPage } from '../pages/sign-in';
import { documentOf } from '../parts/layout';
import { type Rights, rightsOf } from '../parts/navigation';
import { ApiAway, ApiRefusal, apiOf, type PageQuery } from './api';
import { assetRoutes } from './assets';
import type { ConsoleDeps, ConsoleSettings, FormBody, FormContext, PageAnswer, PageContext } from './context'; // biome-ignore format: one line
import { createKeystone } from './keystone';
import { createOidcSignIn, oidcLastsSeconds, oidcPath } from './oidc';
import { cookieIn, createSessions, type Session, type SignedIn, sameToken } from './session';
import { changeScope, placeWithin, signIn, signOut } from './sign-in';

type PageHandler = (context: PageContext) => Promise<PageAnswer>;
type FormHandler = (context: FormContext) => Promise<PageAnswer>;
/** Writes its own response, without a time limit. */
type StreamHandler = (context: PageContext, request: Request, response: Response) => Promise<void>;

export type ConsoleRoute =
  | { readonly get: string; readonly page: PageHandler }
  | { readonly post: string; readonly form: FormHandler }
  | { readonly stream: string; readonly run: StreamHandler };

const [brotli, zip] = [promisify(brotliCompress), promisify(gzip)];

const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const securityHeaders =
  (secure: boolean) =>
  (_request: Request, response: Response, next: NextFunction): void => {
    response.set({
      'content-security-policy': contentPolicy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      ...(secure && { 'strict-transport-security': 'max-age=31536000' }),
    });
    next();
  };

type Exchange = {
  readonly deps: ConsoleDeps;
  readonly request: Request;
  readonly response: Response;
  /** A question that runs while the page is made; absent if it begins at the end. */
  readonly rights?: Promise<Rights>;
  /** The sent form, so that a refusal does not lose its values. */
  readonly sent?: SentForm;
};

const apiFor = ({ deps, request }: Pick<Exchange, 'deps' | 'request'>, session: SignedIn) =>
  apiOf(deps.settings.apiUrl, session.credentials, request, deps.settings.answerLimitMs);

/** Only the changed part of the page is fetched. */
const isPartial = (request: Request): boolean => request.headers['hx-request'] === 'true';

const noRights: Rights = new Set();

/** A part of a page has no navigation. */
const callerRights = async (exchange: Exchange, session: SignedIn): Promise<Rights> =>
  isPartial(exchange.request) ? noRights : rightsOf(apiFor(exchange, session));

/** The document, compressed if the browser accepts that. */
const encoded = async (request: Request, html: string): Promise<{ coding?: string; body: Buffer | string }> => {
  const coding = request.acceptsEncodings('br') || request.acceptsEncodings('gzip');
  if (coding === 'br') return { coding, body: await brotli(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) };
  return coding ? { coding, body: await zip(html) } : { body: html };
};

/** @param session undefined before sign-in */
const sendPage = async (exchange: Exchange, session: Session | undefined, answer: PageAnswer): Promise<void> => {
  const { request, response } = exchange;
  if ('to' in answer) return response.redirect(303, answer.to);
  const signedIn = isSignedIn(session) ? session : undefined;
  const rights = signedIn ? await (exchange.rights ?? callerRights(exchange, signedIn)) : noRights;
  const { title, crumbs, body: page } = answer;
  const html = documentOf({ title, path: request.path, session: signedIn, rights, crumbs }, page);
  const { coding, body } = await encoded(request, html);
  if (coding) response.set('content-encoding', coding);
  response.status(answer.status ?? 200).set({ 'content-type': 'text/html; charset=utf-8', vary: 'accept-encoding' });
  response.end(body);
};

/** A form's address is below that of its page. */
const backFrom = ({ request: { method, path } }: Exchange): string | undefined =>
  method === 'POST' && path.lastIndexOf('/') > 0 ? path.slice(0, path.lastIndexOf('/')) : undefined;

const sendRefusal = (
  exchange: Exchange,
  session: Session | undefined,
  { status, says }: Pick<ApiRefusal, 'status' | 'says'>,
  title = titleOf(status),
): Promise<void> =>
  sendPage(exchange, session, { title, status, body: refusalPage(status, says, backFrom(exchange), exchange.sent) });

const single = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : Array.isArray(value) ? single(value[0]) : undefined;

const queryOf = (request: Request): PageQuery =>
  Object.fromEntries(Object.entries(request.query).map(([name, value]) => [name, single(value)]));

const pageContext = ({ deps, request }: Exchange, session: SignedIn): PageContext => ({
  ...deps,
  session,
  api: apiFor({ deps, request }, session),
  params: request.params as Record<string, string>,
  query: queryOf(request),
  path: request.originalUrl,
  partial: isPartial(request),
});

const isSignedIn = (session: Session | undefined): session is SignedIn => session?.credentials != null;

/** Begins an anonymous session, so that the form of the page has a token. */
const showSignIn = async (
  exchange: Exchange,
  { says, status = 200, next }: { says?: string; status?: number; next: string },
): Promise<void> => {
  const { settings, sessions } = exchange.deps;
  const session = await sessions.begin(exchange.response, { credentials: null, name: '', scope: '', keystone: false });
  const body = signInPage({ session, settings, says, next });
  return sendPage(exchange, undefined, { title: 'Sign in', status, body });
};

const sessionOver = 'Your session has ended: sign in again.';

const reloadAfterSeconds = 5;

/** A page that was only looked at loads itself again, with and without scripts. A form does not. */
const showAway = (exchange: Exchange, session: SignedIn, { message }: ApiAway): Promise<void> => {
  const again = exchange.request.method === 'GET' && !isPartial(exchange.request);
  if (again) exchange.response.set('refresh', String(reloadAfterSeconds));
  const body = awayPage(message, again ? reloadAfterSeconds : undefined, exchange.sent);
  return sendPage(exchange, session, { title: 'The API is away', status: 503, body });
};

/** Shows an error page. A refused token ends the session. */
const showFault = async (exchange: Exchange, session: SignedIn, thrown: unknown): Promise<void> => {
  const { deps, request, response } = exchange;
  if (thrown instanceof ApiAway) return showAway(exchange, session, thrown);
  if (!(thrown instanceof ApiRefusal)) throw thrown;
  if (thrown.status !== 401) return sendRefusal(exchange, session, thrown);
  deps.sessions.end(response, session);
  return showSignIn(exchange, { says: sessionOver, status: 401, next: placeWithin(request.originalUrl) });
};

const withoutPort = (host: string): string => host.replace(/:\d{1,5}$/, '');

/** True unless the browser's headers show another origin. */
const isOwnOrigin = (settings: ConsoleSettings, request: Request): boolean => {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers;
  // DNS rebinding: a page at a name that resolves to this machine could sign in as a demo user.
  if (settings.demo && !isLoopback(withoutPort(host))) return false;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (origin === undefined) return true;
  return URL.canParse(origin) && (new URL(origin).host === host || origin === new URL(settings.publicUrl).origin);
};

const foreignForm =
  'This form was not made by this console for your session. Go back, load the page again, and send it again.';

type ProvenForm = { readonly session: Session; readonly form: FormBody };

/** Returns undefined if the form was refused; the response is then complete. */
const provenForm = async (exchange: Exchange): Promise<ProvenForm | undefined> => {
  const { deps, request } = exchange;
  const session = await deps.sessions.of(request);
  const form = (request.body ?? {}) as FormBody;
  if (session && isOwnOrigin(deps.settings, request) && sameToken(session, form.csrf)) return { session, form };
  await sendRefusal(exchange, session, { status: 403, says: foreignForm }, 'Form refused');
  return undefined;
};

const signInShown = async (exchange: Exchange): Promise<void> => {
  const { deps, request, response } = exchange;
  if (isSignedIn(await deps.sessions.of(request))) return response.redirect(303, '/');
  return showSignIn(exchange, { next: placeWithin(queryOf(request).next ?? '/') });
};

const signedInBy = async (exchange: Exchange, { session, form }: ProvenForm): Promise<void> => {
  const next = placeWithin(typeof form.next === 'string' ? form.next : '/');
  try {
    await signIn(exchange.deps, form, { before: session, response: exchange.response });
    exchange.response.redirect(303, next);
  } catch (thrown) {
    await signInRefused(exchange, next, thrown);
  }
};

/** With the prefix, no other host of the domain can set it. */
const oidcCookie = (secure: boolean) => ({
  name: secure ? '__Host-temper_console_oidc' : 'temper_console_oidc',
  options: { httpOnly: true, sameSite: 'lax', secure, path: '/' } as const,
});

/** Begins a sign-in at the OIDC server. Lax, because the browser comes back from another site. */
const oidcBegun = async (exchange: Exchange): Promise<void> => {
  const { deps, request, response } = exchange;
  const next = placeWithin(queryOf(request).next ?? '/');
  await orSignInShown(exchange, next, async (oidc) => {
    const { url, kept } = await oidc.begin(next);
    const { name, options } = oidcCookie(deps.settings.secure);
    response.cookie(name, kept, { ...options, maxAge: oidcLastsSeconds * 1_000 });
    response.redirect(303, url);
  });
};

/**
 * The next page is loaded by this one: after a redirect from another site, the browser would not send the session's
 * strict cookie.
 */
const oidcFinished = async (exchange: Exchange): Promise<void> => {
  const { deps, request, response } = exchange;
  const { name, options } = oidcCookie(deps.settings.secure);
  response.clearCookie(name, options);
  await orSignInShown(exchange, '/', async (oidc) => {
    const query = request.originalUrl.slice(request.path.length);
    const { token, next, ...who } = await oidc.finish(cookieIn(request, name), query);
    await deps.sessions.begin(response, {
      ...who,
      credentials: { is: 'token', token },
      scope: 'OIDC',
      keystone: false,
    });
    response.set('refresh', `0; url=${next}`);
    await sendPage(exchange, undefined, { title: 'Signed in', body: signedInPage(next) });
  });
};

const orSignInShown = async (
  exchange: Exchange,
  next: string,
  work: (oidc: NonNullable<ConsoleDeps['oidc']>) => Promise<void>,
): Promise<void> => {
  const { oidc } = exchange.deps;
  if (!oidc) return exchange.response.redirect(303, '/sign-in');
  try {
    await work(oidc);
  } catch (thrown) {
    await signInRefused(exchange, next, thrown);
  }
};

const signInRefused = (exchange: Exchange, next: string, thrown: unknown): Promise<void> => {
  if (!(thrown instanceof ApiRefusal || thrown instanceof ApiAway)) throw thrown;
  return showSignIn(exchange, {
    says: thrown.message,
    status: thrown instanceof ApiRefusal ? thrown.status : 503,
    next,
  });
};

const scopeChanged = async (exchange: Exchange, { session, form }: ProvenForm): Promise<void> => {
  const { deps, response } = exchange;
  if (!isSignedIn(session)) return response.redirect(303, '/sign-in');
  try {
    await changeScope(deps, String(form.project ?? ''), { before: session, response });
    response.redirect(303, '/');
  } catch (thrown) {
    // A refused scope keeps the session.
    await showFault(exchange, session, thrown instanceof ApiRefusal ? new ApiRefusal(403, thrown.says) : thrown);
  }
};

/** Shows API errors as pages. */
const answered = async (exchange: Exchange, session: SignedIn, handle: () => Promise<void>): Promise<void> => {
  try {
    await handle();
  } catch (thrown) {
    if (exchange.response.headersSent) throw thrown;
    await showFault(exchange, session, thrown);
  }
};

const answerForm = async (exchange: Exchange, handler: FormHandler, { session, form }: ProvenForm): Promise<void> => {
  if (!isSignedIn(session)) return exchange.response.redirect(303, '/sign-in');
  const context = { ...pageContext(exchange, session), form };
  const kept = { ...exchange, sent: { action: exchange.request.path, form, session } };
  await answered(kept, session, async () => sendPage(exchange, session, await handler(context)));
};

const answerGet = async (exchange: Exchange, route: Exclude<ConsoleRoute, { post: string }>): Promise<void> => {
  const { deps, request, response } = exchange;
  const session = await deps.sessions.of(request);
  if (!isSignedIn(session)) return response.redirect(303, `/sign-in?next=${encodeURIComponent(request.originalUrl)}`);
  const context = pageContext(exchange, session);
  if ('stream' in route) return answered(exchange, session, () => route.run(context, request, response));
  const framed = { ...exchange, rights: callerRights(exchange, session) };
  await answered(framed, session, async () => sendPage(framed, session, await route.page(context)));
};

const routerOf = (deps: ConsoleDeps, routes: readonly ConsoleRoute[]): Router => {
  const router = Router();
  const get = (path: string, handle: (exchange: Exchange) => Promise<void>) =>
    router.get(path, (request, response) => handle({ deps, request, response }));
  const post = (path: string, handle: (exchange: Exchange, form: ProvenForm) => Promise<void>) =>
    router.post(path, async (request, response) => {
      const exchange = { deps, request, response };
      const form = await provenForm(exchange);
      if (form) await handle(exchange, form);
    });
  get('/sign-in', signInShown);
  get(`${oidcPath}/begin`, oidcBegun);
  get(oidcPath, oidcFinished);
  post('/sign-in', signedInBy);
  post('/scope', scopeChanged);
  post('/sign-out', async ({ request, response }) => {
    await signOut(deps, request, response);
    response.redirect(303, '/sign-in');
  });
  for (const route of routes)
    if ('post' in route) post(route.post, (exchange, form) => answerForm(exchange, route.form, form));
    else get('get' in route ? route.get : route.stream, (exchange) => answerGet(exchange, route));
  return router;
};

export const createConsole = (
  settings: ConsoleSettings,
  routes: readonly ConsoleRoute[],
  report: (thrown: unknown) => void,
): Express => {
  const deps: ConsoleDeps = {
    settings,
    sessions: createSessions(settings),
    keystone: settings.identityUrl === undefined ? undefined : createKeystone(settings.identityUrl),
    oidc: settings.oidc && createOidcSignIn(settings.oidc, settings.publicUrl, settings.keys),
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(securityHeaders(settings.secure));
  app.use(assetRoutes());
  app.use(readForm);
  app.use(routerOf(deps, routes));
  app.use(async (request: Request, response: Response) => {
    const missing = { status: 404, says: 'The console has no such page.' };
    await sendRefusal({ deps, request, response }, await deps.sessions.of(request), missing);
  });
  app.use(async (thrown: unknown, request: Request, response: Response, _next: NextFunction) => {
    const given = (thrown as { status?: unknown }).status;
    const own = typeof given === 'number' && given < 500;
    if (!own) report(thrown);
    if (response.headersSent) return void response.destroy();
    const says = own ? 'The form could not be read.' : 'The console failed; its log says why.';
    await sendRefusal({ deps, request, response }, undefined, { status: own ? given : 500, says }, 'Failed');
  });
  return app;
};
