/** The console in a real browser: by keyboard alone, narrow, without JavaScript, alive, and small. */
import { happened } from '../support/happenings';
import { foundByAxe, suiteInChromium } from './support/chromium-suite';
import { takeAllPictures, takePictures } from './support/pictures';

/** Ids of what a button opens, without the menu of phones. */
const popovers = `[...document.querySelectorAll('[popover]:not(.menu)')].map(({ id }) => id)`;

// By `npm run screenshots` alone.
const pictures = process.env.TEMPER_SCREENSHOTS;

suiteInChromium('the console in Chromium', (system) => {
  if (pictures !== undefined) {
    test('pictures are taken', () => takePictures(system(), pictures), 120_000);
    const all = process.env.TEMPER_SCREENSHOTS_ALL;
    if (all !== undefined) test('pictures of every page are taken', () => takeAllPictures(system(), all), 600_000);
  }

  test('at 320 px nothing lies outside of the page but what scrolls within it', async () => {
    const context = await system().as('operator', { viewport: { width: 320, height: 640 } });
    const page = await context.newPage();
    for (const address of system().everyPage) {
      await page.goto(address);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect({ address, width }).toEqual({ address, width: 320 });
    }
  });

  test('without JavaScript a parked run is found from the inbox and retried', async () => {
    const context = await system().as('owner-manager', { javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto('/inbox');
    await page.getByRole('link', { name: 'service on rack-1' }).click();
    await page.getByRole('button', { name: 'Retry step' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retry step' });
    await dialog.getByLabel('Reason').fill('the cable is in again');
    await dialog.getByRole('button', { name: 'Retry step' }).click();
    await page.getByText('The step is run again.').first().waitFor();
    expect(system().api.runs.operated.at(-1)).toMatchObject({ act: 'retry', reason: 'the cable is in again' });
  });

  test('a member learns in two clicks from the inbox why it may not do what its manager may', async () => {
    const page = await (await system().as('owner-member')).newPage();
    await page.goto('/inbox');
    const card = page.locator('li.card', { has: page.getByRole('link', { name: 'service on rack-1' }) });
    await card.getByText('Unavailable').click();
    await card.getByRole('link', { name: 'Why?' }).first().click();
    await page.getByText('managers of the owner').first().waitFor();
    const about = `rule=temper%3Arun%3Askip&kind=run&object=${system().world.parked.run}`;
    expect(new URL(page.url()).search).toBe(`?${about}`);
  });

  test('with the keyboard alone the same is done, and the focus is always seen', async () => {
    const context = await system().as('owner-manager');
    const page = await context.newPage();
    await page.goto(`/runs/${system().world.parked.run}`);
    const focused = () =>
      page.evaluate(
        `(() => { const one = document.activeElement; const style = getComputedStyle(one); return { text: one.textContent.trim(), name: one.name ?? '', outline: style.outlineStyle }; })()`,
      ) as Promise<{ text: string; name: string; outline: string }>;
    const tabTo = async (is: (one: { text: string; name: string }) => boolean): Promise<void> => {
      for (let at = 0; at < 80; at++) {
        await page.keyboard.press('Tab');
        const now = await focused();
        expect(now).not.toMatchObject({ outline: 'none' });
        if (is(now)) return;
      }
      throw new Error('the keyboard does not lead there');
    };
    await page.keyboard.press('Tab');
    expect((await focused()).text).toBe('Skip to the page');
    await tabTo(({ text }) => text === 'Retry step');
    await page.keyboard.press('Enter');
    await tabTo(({ name }) => name === 'reason');
    await page.keyboard.type('by keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('The step is run again.').waitFor();
    expect(system().api.runs.operated.at(-1)).toMatchObject({ act: 'retry', reason: 'by keyboard' });
  });

  test('a change is on the screen without a reload, and what was typed stays', async () => {
    const context = await system().as('owner-manager');
    const page = await context.newPage();
    const streaming = page.waitForResponse((reply) => reply.url().endsWith('/live'));
    await page.goto(`/runs/${system().world.parked.run}`);
    await streaming;
    await page.getByRole('button', { name: 'Skip step' }).click();
    const reason = page.locator('form[action$="/skip"] input[name=reason]');
    await reason.fill('half a sen');
    await system().api
      .sql`update run_steps set note = 'a note that came later' where run_id = ${system().world.parked.run} and index = 1`;
    const before = Date.now();
    await happened(system().api, system().world.parked, 'step.noted', { note: 'x' });
    await page.getByText('a note that came later').waitFor();
    const ms = Date.now() - before;
    expect(await reason.inputValue()).toBe('half a sen');
    expect(await reason.isVisible()).toBe(true);
    expect(await page.evaluate('document.activeElement.name')).toBe('reason');
    process.stdout.write(`a change was on the screen after ${ms} ms\n`);
  });

  test('a first load is at most 150 kB over the wire', async () => {
    const { browser, pages } = system();
    const context = await browser.newContext({ baseURL: pages.url });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.goto('/sign-in', { waitUntil: 'networkidle' });
    await context.close();
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(150_000);
  });

  test('a swap reads out what changed, and keeps ticks, focus and open parts', async () => {
    const page = await (await system().as('operator')).newPage();
    const streaming = page.waitForResponse((reply) => reply.url().endsWith('/live'));
    await page.goto('/nodes');
    await streaming;
    await page.getByLabel('Select rack-7').check();
    await page.getByText('1 selected').waitFor();
    await page.getByRole('link', { name: 'rack-8', exact: true }).focus();
    await system().api.sql`update nodes set provision_state = 'cleaning' where name = 'rack-9'`;
    await happened(system().api, system().world.parked, 'step.noted', { note: 'y' });
    await page.locator('#said', { hasText: 'rack-9: cleaning' }).waitFor({ state: 'attached' });
    expect(await page.locator('tr.changed').count()).toBe(1);
    expect(await page.getByLabel('Select rack-7').isChecked()).toBe(true);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('rack-8');
    expect(await page.locator('[aria-live]').count()).toBe(1);
    await page.locator('.live', { hasText: 'Live' }).waitFor();
    await system().api.sql`update nodes set provision_state = 'available' where name = 'rack-9'`;
  });

  test('after many swaps an event still makes one request', async () => {
    const page = await (await system().as('operator')).newPage();
    const streaming = page.waitForResponse((reply) => reply.url().endsWith('/live'));
    await page.goto('/runs');
    await streaming;
    const swapped = () => page.waitForResponse((reply) => reply.request().headers()['hx-request'] === 'true');
    const news = () => happened(system().api, system().world.parked, 'step.noted', { note: 'z' });
    for (let at = 0; at < 3; at++) await Promise.all([swapped(), news()]);
    let requests = 0;
    page.on('request', (one) => {
      if (one.headers()['hx-request'] === 'true') requests += 1;
    });
    await Promise.all([swapped(), news()]);
    expect(requests).toBe(1);
  });

  test('one box selects all rows of the page, and a bar plans a rollout with them', async () => {
    const page = await (await system().as('operator')).newPage();
    await page.goto('/nodes');
    const bar = page.getByRole('form', { name: 'Selected nodes' });
    expect(await bar.isVisible()).toBe(false);
    await page.getByLabel('Select all rows of this page').check();
    const rows = await page.locator('tbody tr').count();
    expect(rows).toBeGreaterThan(5);
    await bar.getByText(`${rows} selected`).waitFor();
    await page.getByLabel('Select rack-4').uncheck();
    await bar.getByText(`${rows - 1} selected`).waitFor();
    await bar.getByRole('button', { name: 'Plan a rollout' }).click();
    const nodes = await page.locator('textarea[name=nodes]').inputValue();
    expect(nodes.split('\n')).toHaveLength(rows - 1);
    expect(nodes).not.toContain('rack-4');
  });

  test('without JavaScript the menu of a phone opens, and rows that are ticked raise the bar', async () => {
    const options = { javaScriptEnabled: false, viewport: { width: 390, height: 800 } };
    const page = await (await system().as('operator', options)).newPage();
    await page.goto('/nodes');
    const menu = page.getByRole('navigation', { name: 'Sections', exact: true });
    expect(await menu.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'More' }).click();
    await menu.getByRole('link', { name: 'Audit' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Select rack-4').check();
    await page.getByRole('form', { name: 'Selected nodes' }).waitFor();
  });

  test('axe finds nothing in an open dialog or menu, light or dark', async () => {
    const page = await (await system().as('operator')).newPage();
    let opened = 0;
    for (const address of [
      '/',
      '/inbox',
      `/runs/${system().world.parked.run}`,
      '/nodes',
      '/nodes/rack-3',
      `/rollouts/${system().underWay}`,
    ]) {
      await page.goto(address);
      for (const id of (await page.evaluate(popovers)) as string[]) {
        await page.evaluate(`document.getElementById(${JSON.stringify(id)}).showPopover()`);
        expect({ address, id, found: await foundByAxe(page) }).toEqual({ address, id, found: [] });
        await page.evaluate(`document.getElementById(${JSON.stringify(id)}).hidePopover()`);
        opened += 1;
      }
    }
    expect(opened).toBeGreaterThan(8);
  }, 300_000);

  test('Ctrl-K searches from everywhere, and the arrows lead to what is found', async () => {
    const page = await (await system().as('operator')).newPage();
    await page.goto('/audit');
    await page.keyboard.press('Control+k');
    expect(await page.evaluate('document.activeElement.id')).toBe('search');
    await page.keyboard.type('blade-7');
    await page.locator('#found a', { hasText: 'blade-7' }).waitFor();
    await page.locator('#said', { hasText: '1 found' }).waitFor({ state: 'attached' });
    expect(await foundByAxe(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'blade-7' }).waitFor();
  });

  test('without JavaScript the search of a phone leads to its results', async () => {
    const options = { javaScriptEnabled: false, viewport: { width: 390, height: 800 } };
    const page = await (await system().as('operator', options)).newPage();
    await page.goto('/');
    await page.getByRole('link', { name: 'Search' }).click();
    await page.getByRole('textbox', { name: 'Text' }).fill('blade-7');
    await page.locator('main').getByRole('button', { name: 'Search' }).click();
    await page.locator('main').getByRole('link', { name: 'blade-7' }).click();
    await page.getByRole('heading', { name: 'blade-7' }).waitFor();
  });

  test('the Overview announces what changed in a rack, within a second of the event', async () => {
    const page = await (await system().as('operator')).newPage();
    const streaming = page.waitForResponse((reply) => reply.url().endsWith('/live'));
    await page.goto('/');
    await streaming;
    await page.getByText('Open as table: Failures a day').click();
    await system().api.sql`update nodes set provision_state = 'cleaning' where name = 'blade-6'`;
    const before = Date.now();
    await happened(system().api, system().world.parked, 'step.noted', { note: 'v' });
    await page.locator('.unit.busy', { hasText: 'blade-6' }).waitFor();
    process.stdout.write(`a change was on the Overview after ${Date.now() - before} ms\n`);
    await page.locator('#said', { hasText: 'blade-6: cleaning' }).waitFor({ state: 'attached' });
    expect(await page.locator('#failures-table').getAttribute('open')).not.toBeNull();
    await system().api.sql`update nodes set provision_state = 'available' where name = 'blade-6'`;
  });

  test('an incident is frozen in two clicks without JavaScript', async () => {
    const page = await (await system().as('operator', { javaScriptEnabled: false })).newPage();
    await page.goto('/');
    await page.getByRole('button', { name: 'Freeze the 5' }).click();
    const dialog = page.getByRole('dialog', { name: 'Freeze the 5' });
    await dialog.getByLabel('Reason').fill('feed A is dead');
    await dialog.getByRole('button', { name: 'Freeze the 5' }).click();
    await page.getByText('Done on 5 nodes.').waitFor();
    await system().api.sql`delete from freezes`;
  });

  test('ids are copied by a click, and times go on', async () => {
    const context = await system().as('operator', { permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    await page.goto(`/runs/${system().world.parked.run}`);
    await page.getByRole('button', { name: `Copy ${system().world.parked.run}` }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(system().world.parked.run);
    expect(await page.locator('main time').first().getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\dT/);
  });
});
