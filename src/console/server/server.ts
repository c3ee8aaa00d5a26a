/** The console as a request handler: headers, sessions, the proof that a form is its own, and faults as pages. */
import express, { type Express, type NextFunction, type Request, type Response, Router } from 'express';
import { awayPage, refusalPage, titleOf } from '../pages/faults';
import { signInPage } from '../pages/sign-in';
import { documentOf } from '../parts/layout';
import { ApiAway, ApiRefusal, apiOf } from './api';
import { assetRoutes } from './assets';
import type {
  ConsoleDeps,
  ConsoleSettings,
  FormBody,
  FormContext,
  PageAnswer,
  PageContext,
  PageQuery,
} from './context';
import { createKeystone } from './keystone';
import { createSessions, type Session, type SignedIn, sameToken } from './session';
import { changeScope, placeWithin, signIn, signOut } from './sign-in';

type PageHandler = (context: PageContext) => Promise<PageAnswer>;
type FormHandler = (context: FormContext) => Promise<PageAnswer>;
/** Answers by itself, for as long as it likes. */
type StreamHandler = (context: PageContext, request: Request, response: Response) => Promise<void>;

export type ConsoleRoute =
  | { readonly get: string; readonly page: PageHandler }
  | { readonly post: string; readonly form: FormHandler }
  | { readonly stream: string; readonly run: StreamHandler };

const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

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

const largestForm = '512kb';

const sendPage = (request: Request, response: Response, session: Session | undefined, answer: PageAnswer): void => {
  if ('to' in answer) {
    response.redirect(303, answer.to);
    return;
  }
  response
    .status(answer.status ?? 200)
    .type('html')
    .send(documentOf(answer.title, request.path, session, answer.body));
};

const single = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : Array.isArray(value) ? single(value[0]) : undefined;

const queryOf = (request: Request): PageQuery =>
  Object.fromEntries(Object.entries(request.query).map(([name, value]) => [name, single(value)]));

const pageContext = (deps: ConsoleDeps, request: Request, session: SignedIn): PageContext => ({
  ...deps,
  session,
  api: apiOf(deps.settings.apiUrl, session.credentials, request),
  params: request.params as Record<string, string>,
  query: queryOf(request),
  path: request.originalUrl,
});

const isSignedIn = (session: Session | undefined): session is SignedIn => session?.credentials != null;

/** The sign-in page, with a session of its own so that its forms carry a token too. */
const showSignIn = async (
  { settings, sessions }: ConsoleDeps,
  request: Request,
  response: Response,
  { says, status = 200, next }: { says?: string; status?: number; next: string },
): Promise<void> => {
  const session = await sessions.begin(response, { credentials: null, name: '', scope: '', keystone: false });
  sendPage(request, response, undefined, {
    title: 'Sign in',
    status,
    body: signInPage({ session, settings, says, next }),
  });
};

const sessionOver = 'Your session has ended: sign in again.';

/** A fault as a page; a refused token ends the session. */
const showFault = async (
  deps: ConsoleDeps,
  request: Request,
  response: Response,
  session: SignedIn,
  thrown: unknown,
): Promise<void> => {
  if (thrown instanceof ApiAway)
    return sendPage(request, response, session, {
      title: 'The API is away',
      status: 503,
      body: awayPage(thrown.message),
    });
  if (!(thrown instanceof ApiRefusal)) throw thrown;
  if (thrown.status === 401) {
    deps.sessions.end(response, session);
    return showSignIn(deps, request, response, {
      says: sessionOver,
      status: 401,
      next: placeWithin(request.originalUrl),
    });
  }
  sendPage(request, response, session, {
    title: titleOf(thrown.status),
    status: thrown.status,
    body: refusalPage(thrown.status, thrown.says),
  });
};

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Whether a form comes from a page of the console, as far as the browser says. */
const isOwnOrigin = (settings: ConsoleSettings, request: Request): boolean => {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers;
  // A page of any name that resolves to this machine could sign in as a person of the demo (DNS rebinding).
  if (settings.demo && !loopbackHost.test(host)) return false;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (origin === undefined) return true;
  return URL.canParse(origin) && (new URL(origin).host === host || origin === new URL(settings.publicUrl).origin);
};

const refuseForm = (request: Request, response: Response, session: Session | undefined): void =>
  sendPage(request, response, isSignedIn(session) ? session : undefined, {
    title: 'Form refused',
    status: 403,
    body: refusalPage(
      403,
      'This form was not made by this console for your session. Go back, load the page again, and send it once more.',
    ),
  });

/** The session of a form that is its own; undefined where the form was refused and answered. */
const provenSession = async (deps: ConsoleDeps, request: Request, response: Response): Promise<Session | undefined> => {
  const session = await deps.sessions.of(request);
  const proven = session && isOwnOrigin(deps.settings, request) && sameToken(session, (request.body as FormBody)?.csrf);
  if (!proven) refuseForm(request, response, session);
  return proven ? session : undefined;
};

const signInRoutes = (deps: ConsoleDeps): Router => {
  const router = Router();
  router.get('/sign-in', async (request, response) => {
    const session = await deps.sessions.of(request);
    if (isSignedIn(session)) return response.redirect(303, '/');
    await showSignIn(deps, request, response, { next: placeWithin(queryOf(request).next ?? '/') });
  });
  router.post('/sign-in', async (request, response) => {
    const session = await provenSession(deps, request, response);
    if (!session) return;
    const form = (request.body ?? {}) as FormBody;
    const next = placeWithin(typeof form.next === 'string' ? form.next : '/');
    try {
      await signIn(deps, form, { before: session, response });
      response.redirect(303, next);
    } catch (thrown) {
      if (!(thrown instanceof ApiRefusal || thrown instanceof ApiAway)) throw thrown;
      const status = thrown instanceof ApiRefusal ? thrown.status : 503;
      await showSignIn(deps, request, response, { says: thrown.message, status, next });
    }
  });
  router.post('/scope', async (request, response) => {
    const session = await provenSession(deps, request, response);
    if (!isSignedIn(session)) return session && response.redirect(303, '/sign-in');
    try {
      await changeScope(deps, String((request.body as FormBody).project ?? ''), { before: session, response });
      response.redirect(303, '/');
    } catch (thrown) {
      // A scope that is refused leaves the session as it is.
      const refused = thrown instanceof ApiRefusal ? new ApiRefusal(403, thrown.says) : thrown;
      await showFault(deps, request, response, session, refused);
    }
  });
  router.post('/sign-out', async (request, response) => {
    if (!(await provenSession(deps, request, response))) return;
    await signOut(deps, request, response);
    response.redirect(303, '/sign-in');
  });
  return router;
};

const addRoute = (router: Router, deps: ConsoleDeps, route: ConsoleRoute): void => {
  const answered = async (request: Request, response: Response, session: SignedIn, handle: () => Promise<void>) => {
    try {
      await handle();
    } catch (thrown) {
      if (response.headersSent) throw thrown;
      await showFault(deps, request, response, session, thrown);
    }
  };
  const signedIn = async (request: Request, response: Response): Promise<SignedIn | undefined> => {
    const session = await deps.sessions.of(request);
    if (isSignedIn(session)) return session;
    response.redirect(303, `/sign-in?next=${encodeURIComponent(request.originalUrl)}`);
    return undefined;
  };
  if ('post' in route) {
    router.post(route.post, async (request, response) => {
      const session = await provenSession(deps, request, response);
      if (!isSignedIn(session)) return session && response.redirect(303, '/sign-in');
      const form = { ...pageContext(deps, request, session), form: request.body as FormBody };
      await answered(request, response, session, async () =>
        sendPage(request, response, session, await route.form(form)),
      );
    });
    return;
  }
  router.get('get' in route ? route.get : route.stream, async (request, response) => {
    const session = await signedIn(request, response);
    if (!session) return;
    const context = pageContext(deps, request, session);
    await answered(request, response, session, async () =>
      'get' in route
        ? sendPage(request, response, session, await route.page(context))
        : route.run(context, request, response),
    );
  });
};

/**
 * @param routes the pages
 * @param report takes what went wrong in the console itself
 */
export const createConsole = (
  settings: ConsoleSettings,
  routes: readonly ConsoleRoute[],
  report: (thrown: unknown) => void,
): Express => {
  const deps: ConsoleDeps = {
    settings,
    sessions: createSessions(settings),
    keystone: settings.identityUrl === undefined ? undefined : createKeystone(settings.identityUrl),
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(securityHeaders(settings.secure));
  app.use(assetRoutes());
  app.use(express.urlencoded({ extended: false, limit: largestForm }));
  app.use(signInRoutes(deps));
  const router = Router();
  for (const route of routes) addRoute(router, deps, route);
  app.use(router);
  app.use(async (request: Request, response: Response) => {
    const session = await deps.sessions.of(request);
    const body = refusalPage(404, 'The console has no such page.');
    sendPage(request, response, isSignedIn(session) ? session : undefined, { title: titleOf(404), status: 404, body });
  });
  app.use((thrown: unknown, request: Request, response: Response, _next: NextFunction) => {
    const status = (thrown as { status?: unknown }).status;
    const own = typeof status === 'number' && status < 500;
    if (!own) report(thrown);
    if (response.headersSent) return void response.destroy();
    const body = refusalPage(
      own ? status : 500,
      own ? 'The form could not be read.' : 'The console failed; its log says why.',
    );
    sendPage(request, response, undefined, { title: 'Failed', status: own ? status : 500, body });
  });
  return app;
};
