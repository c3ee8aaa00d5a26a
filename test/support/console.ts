/** A console in front of a test API, and browsers without a screen: cookies, forms as the pages have them, redirects by hand. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ConsoleSettings, consoleListener } from '../../src/console';
import type { Persona } from './world';

type Page = {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Where a redirect leads; null for none. */
  readonly to: string | null;
};

type Browser = {
  /** The Cookie header that it sends now. */
  cookie: string;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Page>;
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Page>;
  /** The hidden token of the page that was shown last. */
  readonly csrf: string;
};

export type TestConsole = {
  readonly url: string;
  readonly faults: unknown[];
  browser(): Browser;
  /** A browser in which a persona has signed in with its token. */
  as(persona: Persona): Promise<Browser>;
  close(): Promise<void>;
};

export const consoleKey = Buffer.alloc(32, 7).toString('base64');

const cookieOf = (before: string, headers: Headers): string => {
  const jar = new Map(
    before
      .split('; ')
      .filter(Boolean)
      .map((pair) => [pair.split('=')[0]!, pair]),
  );
  for (const line of headers.getSetCookie()) {
    const [pair = ''] = line.split(';');
    const [name = '', value = ''] = pair.split('=');
    if (value === '' || /Expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
    else jar.set(name, pair);
  }
  return [...jar.values()].join('; ');
};

const browserOn = (url: string): Browser => {
  let csrf = '';
  const ask = async (path: string, init: RequestInit): Promise<Page> => {
    const reply = await fetch(`${url}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { ...(init.headers as object), ...(browser.cookie && { cookie: browser.cookie }) },
    });
    browser.cookie = cookieOf(browser.cookie, reply.headers);
    const text = await reply.text();
    csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? csrf;
    return { status: reply.status, text, headers: reply.headers, to: reply.headers.get('location') };
  };
  const browser: Browser = {
    cookie: '',
    get csrf() {
      return csrf;
    },
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, fields, headers = {}) =>
      ask(path, { method: 'POST', body: new URLSearchParams({ csrf, ...fields }), headers }),
  };
  return browser;
};

/** @param apiUrl of the API behind it */
export const startTestConsole = async (apiUrl: string, more: Partial<ConsoleSettings> = {}): Promise<TestConsole> => {
  const faults: unknown[] = [];
  const server = createServer({ keepAliveTimeout: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = {
    apiUrl,
    publicUrl: url,
    keys: [consoleKey],
    lifeMs: 3_600_000,
    secure: false,
    answerLimitMs: 60_000,
    ...more,
  };
  server.on(
    'request',
    consoleListener(settings, (thrown) => faults.push(thrown)),
  );
  return {
    url,
    faults,
    browser: () => browserOn(url),
    async as(persona) {
      const browser = browserOn(url);
      await browser.get('/sign-in');
      const page = await browser.post('/sign-in', { kind: 'token', token: persona });
      if (page.status !== 303) throw new Error(`${persona} could not sign in: ${page.status}`);
      await browser.get('/any-page'); // its frame has the token of the new session
      return browser;
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
};
