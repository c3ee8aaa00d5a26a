/** Frame of every page: head with scripts, navigation, and the signed-in user. */
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { assetPath } from '../server/assets';
import type { Session } from '../server/session';
import { CsrfField, Send } from './forms';

// No `eval`, no injected styles, no content of other origins.
const htmxSettings = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  allowScriptTags: false,
});

const sections = [
  ['/', 'Now'],
  ['/nodes', 'Nodes'],
  ['/runs', 'Runs'],
  ['/rollouts', 'Rollouts'],
  ['/runbooks', 'Runbooks'],
  ['/allocations', 'Allocations'],
  ['/policy', 'Policy'],
  ['/audit', 'Audit'],
  ['/system', 'System'],
] as const;

const isWithin = (path: string, section: string): boolean =>
  section === '/' ? path === '/' : path === section || path.startsWith(`${section}/`);

const Navigation = ({ path }: { path: string }) => (
  <nav aria-label="Sections">
    <ul class="sections">
      {sections.map(([href, label]) => (
        <li key={href}>
          <a href={href} aria-current={isWithin(path, href) ? 'page' : undefined}>
            {label}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

const Account = ({ session }: { session: Session }) => (
  <form method="post" action="/sign-out" class="account">
    <CsrfField session={session} />
    <span>
      <b>{session.name}</b>{' '}
      <a href="/scope" title="Change the project or the scope">
        {session.scope}
      </a>
    </span>
    <Send label="Sign out" />
  </form>
);

type FrameProps = { readonly title: string; readonly path: string; readonly session: Session | undefined };

const Frame = ({ title, path, session, children }: FrameProps & { readonly children?: ComponentChildren }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>{`${title} · Temper`}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="htmx-config" content={htmxSettings} />
      <link rel="icon" href={assetPath('icon')} />
      <link rel="stylesheet" href={assetPath('style')} />
      <script defer src={assetPath('htmx')} />
      <script defer src={assetPath('sse')} />
      <script defer src={assetPath('script')} />
    </head>
    <body>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header>
        <a class="brand" href="/">
          Temper
        </a>
        {session?.credentials && <Navigation path={path} />}
        {session?.credentials && <Account session={session} />}
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </body>
  </html>
);

export const documentOf = (title: string, path: string, session: Session | undefined, body: VNode): string =>
  `<!doctype html>${renderToString(
    <Frame title={title} path={path} session={session}>
      {body}
    </Frame>,
  )}`;
