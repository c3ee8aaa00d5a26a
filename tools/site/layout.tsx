/** The frame of a page: its head, the navigation by reader, the headings of the page, and its neighbours. */
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Group } from './navigation';
import type { Heading, Page } from './types';

export type Frame = {
  readonly groups: readonly Group[];
  /** What the navigation marks: the page, or the page that leads to it. */
  readonly shownAt: string;
  readonly previous?: Page;
  readonly next?: Page;
  readonly version: string;
  /** The rows of its tables can be filtered together. */
  readonly filtered: boolean;
  /** The address of a page or an asset, seen from this page. */
  readonly to: (out: string) => string;
  /** The path in the site of a source. */
  readonly outOf: (source: string) => string;
};

const Navigation = ({ groups, shownAt, to, outOf }: Frame) => (
  <nav id="site-pages" aria-label="Pages">
    {groups.map(({ title, entries }) => (
      <section>
        <h2>{title}</h2>
        <ul>
          {entries.map(({ source, label }) => (
            <li>
              <a href={to(outOf(source))} aria-current={source === shownAt ? 'page' : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </section>
    ))}
  </nav>
);

const OnThisPage = ({ headings }: { readonly headings: readonly Heading[] }) => (
  <aside class="headings" aria-label="On this page">
    <h2>On this page</h2>
    <ul>
      {headings.map(({ id, text, level }) => (
        <li class={`level-${level}`}>
          <a href={`#${id}`}>{text}</a>
        </li>
      ))}
    </ul>
  </aside>
);

const Neighbours = ({ previous, next, to }: Frame) => (
  <nav class="neighbours" aria-label="Previous and next page">
    {previous && (
      <a rel="prev" href={to(previous.out)}>
        <small>Previous</small>
        {previous.title}
      </a>
    )}
    {next && (
      <a rel="next" href={to(next.out)}>
        <small>Next</small>
        {next.title}
      </a>
    )}
  </nav>
);

// Scripts are hidden from readers without them, so nothing that needs one is shown.
const Top = ({ to, version }: Frame) => (
  <header>
    <a class="skip" href="#site-content">
      Skip to the page
    </a>
    <a class="menu" href="#site-pages">
      Menu
    </a>
    <a class="brand" href={to('index.html')}>
      <img src={to('assets/icon.svg')} alt="" width="24" height="24" />
      Temper <small>{version}</small>
    </a>
    <button type="button" class="search" hidden data-search>
      Search <kbd>/</kbd>
    </button>
    <button type="button" class="theme" hidden data-theme-switch aria-label="Light or dark">
      ◐
    </button>
  </header>
);

const Search = () => (
  <dialog id="site-search" aria-label="Search">
    <div class="ask">
      <input
        type="search"
        aria-label="Search pages, settings and errors"
        placeholder="A question, a setting, an error"
        autocomplete="off"
      />
      <button type="button">Close</button>
    </div>
    <p role="status" />
    <ol />
  </dialog>
);

const Html = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title}</title>
      {children}
    </head>
  </html>
);

export const renderPage = (page: Page, frame: Frame): string => {
  const { to } = frame;
  const head = renderToString(
    <Html title={page.out === 'index.html' ? 'Temper' : `${page.title} · Temper`}>
      <meta name="color-scheme" content="light dark" />
      <link rel="icon" href={to('assets/icon.svg')} />
      <link rel="stylesheet" href={to('assets/site.css')} />
      <script src={to('assets/theme.js')} />
      <script defer src={to('assets/minisearch.js')} />
      <script defer src={to('assets/search.js')} />
      <script defer src={to('assets/site.js')} data-root={to('index.html').replace(/index\.html$/, '')} />
    </Html>,
  ).replace('</html>', '');
  const before = renderToString(<Top {...frame} />);
  const pages = renderToString(<Navigation {...frame} />);
  const aside = page.headings.length > 1 ? renderToString(<OnThisPage headings={page.headings} />) : '';
  const after = renderToString(<Neighbours {...frame} />);
  const filter = frame.filtered ? ' data-filter' : '';
  return `<!doctype html>${head}<body${aside ? '' : ' class="wide"'}>${before}${pages}<main id="site-content"${filter}>
<article>${page.html}</article>${after}<footer>Source: <code>${page.source}</code></footer></main>${aside}${renderToString(<Search />)}</body></html>
`;
};
