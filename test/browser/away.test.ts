/** A page that is open while the console, or the API behind it, is away: it comes back by itself with what happened meanwhile. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Browser } from 'playwright-core';
import { startTestApi, type TestApi } from '../support/api';
import { chromiumMissing, signedInAs, startChromium } from '../support/chromium';
import { startTestConsole, type TestConsole } from '../support/console';
import { suiteOf } from '../support/found';
import { happened, runningRun, type SeenRun } from '../support/happenings';

/** Passes connections on, and cuts all of them off while it is away; its port stays its own. */
const startDoor = async (url: string) => {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isAway = false;
  let hangs = false;
  const server = createServer((socket) => {
    if (isAway) return void socket.destroy();
    if (hangs) return void sockets.add(socket.on('error', () => undefined));
    const beyond = connect(Number(port), hostname);
    for (const [one, other] of [[socket, beyond], [beyond, socket]] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    } // biome-ignore format: both directions
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const leave = (): void => {
    isAway = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leave,
    /** Takes connections, and answers nothing. */
    hang: () => {
      leave();
      isAway = false;
      hangs = true;
    },
    comeBack: () => {
      if (hangs) leave();
      isAway = false;
      hangs = false;
    },
    close: () => {
      leave();
      server.close();
    },
  };
};

suiteOf('pages while something is away', chromiumMissing)('pages while something is away', () => {
  let api: TestApi;
  let toApi: Awaited<ReturnType<typeof startDoor>>;
  let pages: TestConsole;
  let toConsole: Awaited<ReturnType<typeof startDoor>>;
  let browser: Browser;

  beforeAll(async () => {
    api = await startTestApi();
    toApi = await startDoor(api.url);
    pages = await startTestConsole(toApi.url);
    toConsole = await startDoor(pages.url);
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
    toConsole?.close();
    await pages?.close();
    toApi?.close();
    await api?.close();
  });

  /** A run whose page says something new, by the row and by an event of it. */
  const note = async (seen: SeenRun, text: string): Promise<void> => {
    await api.sql`update runs set waiting_for = ${text} where id = ${seen.run}`;
    await happened(api, seen, 'step.noted', { note: 'x' });
  };

  test('an API that hangs gives a page soon, which comes back by itself', async () => {
    const hasty = await startTestConsole(toApi.url, { answerLimitMs: 500 });
    const context = await signedInAs(browser, hasty.url, 'operator');
    try {
      const page = await context.newPage();
      toApi.hang();
      await page.goto('/');
      await page.getByText('This page loads itself again every 5 seconds.').waitFor();
      toApi.comeBack();
      await page.getByRole('heading', { name: 'Overview' }).waitFor({ timeout: 45_000 });
    } finally {
      toApi.comeBack();
      await context.close();
      await hasty.close();
    }
  });

  test('an open page whose part the API does not answer says so, and asks again', async () => {
    const hasty = await startTestConsole(toApi.url, { answerLimitMs: 500 });
    const context = await signedInAs(browser, hasty.url, 'operator');
    try {
      const seen = await runningRun(api, { state: 'waiting', node_name: 'hung-1' });
      const page = await context.newPage();
      const streaming = page.waitForResponse((reply) => reply.url().endsWith('/live'));
      await page.goto('/runs');
      await streaming;
      await page.route('**/runs*', (route) => route.fulfill({ status: 503, body: 'away' }));
      await note(seen, 'the word that was missed');
      await page.getByText('Not connected').waitFor({ timeout: 45_000 });
      await page.unroute('**/runs*');
      await page.getByText('the word that was missed').first().waitFor({ timeout: 45_000 });
      await page.getByText('Not connected').waitFor({ state: 'detached' });
    } finally {
      await context.close();
      await hasty.close();
    }
  });

  test.each([
    ['console', () => toConsole],
    ['API', () => toApi],
  ])(
    'while the %s is away the page says so, and comes back by itself with what happened meanwhile',
    async (_, door) => {
      const seen = await runningRun(api, { state: 'waiting' });
      const context = await signedInAs(browser, toConsole.url, 'operator');
      try {
        const page = await context.newPage();
        const streaming = page.waitForResponse((reply) => reply.url().endsWith('/live'));
        await page.goto(`/runs/${seen.run}`);
        await streaming;
        await note(seen, 'the first word');
        await page.getByText('the first word').first().waitFor();
        await page.evaluate('document.body.dataset.same = "yes"');
        door().leave();
        await note(seen, 'the second word');
        await page.getByText('Not connected').waitFor({ timeout: 45_000 });
        door().comeBack();
        await page.getByText('the second word').first().waitFor({ timeout: 45_000 });
        await page.getByText('Not connected').waitFor({ state: 'detached' });
        expect(await page.evaluate('document.body.dataset.same')).toBe('yes');
      } finally {
        door().comeBack();
        await context.close();
      }
    },
  );
});
