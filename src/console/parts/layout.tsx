/** Frame of every page: head with scripts, navigation, scope, and the signed-in user. */
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { assetPath } from '../server/assets';
import type { Session } from '../server/session';
import { CsrfField, Send } from './forms';
import { Icon } from './icons';
import { BottomBar, Brand, type Rights, Sidebar, sectionOf } from './navigation';

// No `eval`, no injected styles, no content of other origins.
const htmxSettings = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  allowScriptTags: false,
});

/** Without scripts it leads to the page of scopes; with them it shows the scopes themselves. */
const ScopeSwitch = ({ session }: { session: Session }) => (
  <>
    <button
      type="button"
      popovertarget="scopes"
      aria-label={`Scope: ${session.scope}`}
      hx-get="/scope"
      hx-select="#scope-list"
      hx-target="#scope-list"
      hx-swap="outerHTML"
      hx-trigger="click once"
    >
      {session.scope}
      <Icon is="chevron-down" />
    </button>
    <div id="scopes" class="drop left" popover="auto">
      <div id="scope-list">
        <a href="/scope">Change project or scope</a>
      </div>
    </div>
  </>
);

const Account = ({ session }: { session: Session }) => (
  <>
    <button type="button" class="account" popovertarget="account" aria-label={`Account: ${session.name}`}>
      <Icon is="user-round" />
      {session.name}
      <Icon is="chevron-down" />
    </button>
    <div id="account" class="drop" popover="auto">
      <p>
        <b>{session.name}</b>
        <br />
        <span class="muted">{session.scope}</span>
      </p>
      <form method="post" action="/sign-out">
        <CsrfField session={session} />
        <Send label="Sign out" />
      </form>
    </div>
  </>
);

/** A form; with scripts it lists what is found as one types. A phone has a link to its page. */
const SearchBar = () => (
  <>
    <search>
      <form class="search" action="/search">
        <Icon is="search" />
        <input
          type="search"
          id="search"
          name="q"
          placeholder="Search nodes, runs, commands"
          aria-label="Search"
          autocomplete="off"
          hx-get="/search"
          hx-trigger="input changed delay:150ms, focus once"
          hx-target="#found"
          hx-select="#results > *"
          hx-swap="innerHTML"
          hx-sync="this:replace"
        />
        <span class="keys" aria-hidden="true">
          Ctrl K
        </span>
        <div id="found" />
      </form>
    </search>
    <a class="button search-link" href="/search" aria-label="Search">
      <Icon is="search" />
    </a>
  </>
);

/** Hidden until a stream of the page is open. */
const LiveDot = () => (
  <span class="live" hidden>
    <span>Live</span> <time />
  </span>
);

/** Links to the pages above this one. */
export type Crumbs = readonly (readonly [href: string, label: string])[];

const Breadcrumbs = ({ path, title, crumbs = [] }: { path: string; title: string; crumbs?: Crumbs }) => {
  const section = sectionOf(path);
  if (!section || section.href === path) return null;
  return (
    <nav class="crumbs" aria-label="Breadcrumbs">
      {[[section.href, section.label] as const, ...crumbs].map(([href, label]) => (
        <span key={href}>
          <a href={href}>{label}</a> <span aria-hidden="true">/</span>
        </span>
      ))}
      <span aria-current="page">{title}</span>
    </nav>
  );
};

type FrameProps = {
  readonly title: string;
  readonly path: string;
  /** Undefined before sign-in. */
  readonly session: Session | undefined;
  readonly rights: Rights;
  readonly crumbs?: Crumbs;
};

const Head = ({ title }: { title: string }) => (
  <head>
    <meta charset="utf-8" />
    <title>{`${title} · Temper`}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="htmx-config" content={htmxSettings} />
    <link rel="icon" href={assetPath('icon')} />
    <link rel="preload" href={assetPath('inter')} as="font" type="font/woff2" crossorigin="anonymous" />
    <link rel="stylesheet" href={assetPath('style')} />
    <script defer src={assetPath('htmx')} />
    <script defer src={assetPath('sse')} />
    <script defer src={assetPath('morph')} />
    <script defer src={assetPath('script')} />
  </head>
);

const Frame = ({ title, path, session, rights, crumbs, children }: FrameProps & { children?: ComponentChildren }) => (
  <html lang="en">
    <Head title={title} />
    <body class={session ? undefined : 'bare'}>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      {session && <Sidebar path={path} rights={rights} />}
      {session && (
        <header class="top">
          <Brand />
          <ScopeSwitch session={session} />
          <SearchBar />
          <LiveDot />
          <Account session={session} />
        </header>
      )}
      <main id="main" tabIndex={-1}>
        {session && <Breadcrumbs path={path} title={title} crumbs={crumbs} />}
        {children}
      </main>
      {session && <BottomBar path={path} rights={rights} />}
      <p id="said" class="hidden" aria-live="polite" aria-atomic="true" />
    </body>
  </html>
);

export const documentOf = (frame: FrameProps, body: VNode): string =>
  `<!doctype html>${renderToString(<Frame {...frame}>{body}</Frame>)}`;
