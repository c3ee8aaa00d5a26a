/** Rollouts in a real browser: the preview follows the form, and all of it works without JavaScript. */
import type { Page } from 'playwright-core';
import { suiteInChromium } from './support/chromium-suite';

suiteInChromium('rollouts in Chromium', (system) => {
  beforeAll(async () => {
    const { sql } = system().api;
    await sql`insert into nodes (name, driver, provision_state, owner) select 'plan-' || n, 'fake-hardware', 'manageable', 'project-owner' from generate_series(1, 2) n`;
    await sql`insert into workers (hostname, drivers, role) values ('of-plans', '{fake-hardware}', 'bmc')`;
  });

  const planner = async (page: Page, nodes: string): Promise<void> => {
    await page.goto('/rollouts/new');
    await page.locator('main [name=work]').selectOption('verb:inspect');
    await page.locator('main [name=nodes]').fill(nodes);
  };

  test('the preview follows what is chosen, without a reload, and leaves what was typed', async () => {
    const page = await (await system().as('operator')).newPage();
    await planner(page, 'plan-1');
    await page.locator('main [name=name]').fill('a name');
    await page.getByText('1 of 1 node would run.').waitFor();
    await page.locator('main [name=nodes]').fill('plan-1\nplan-2');
    await page.locator('main [name=name]').focus();
    await page.getByText('2 of 2 nodes would run.').waitFor();
    expect(await page.locator('main [name=name]').inputValue()).toBe('a name');
    await page.locator('main [name=nodes]').fill('no-such-node');
    await page.locator('main [name=name]').focus();
    await page.getByText('Node no-such-node could not be found').waitFor();
  });

  test('own numbers are shown when they are chosen, by the styles alone', async () => {
    const page = await (await system().as('operator', { javaScriptEnabled: false })).newPage();
    await page.goto('/rollouts/new');
    expect(await page.locator('main [name=budget]').isVisible()).toBe(false);
    await page.getByLabel('Own numbers').check();
    expect(await page.locator('main [name=budget]').isVisible()).toBe(true);
    expect(await page.locator('main [name=at_once]').isVisible()).toBe(true);
  });

  test('without JavaScript a rollout is previewed and planned', async () => {
    const page = await (await system().as('operator', { javaScriptEnabled: false })).newPage();
    await planner(page, 'plan-1');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('1 of 1 node would run.').waitFor();
    expect(await page.locator('main [name=nodes]').inputValue()).toBe('plan-1');
    await page.getByRole('button', { name: 'Create plan' }).click();
    await page.getByRole('status').getByText('Planned for 1 node. Nothing has started.').waitFor();
  });

  test('without JavaScript a tenant consents by one button, and reads that it has', async () => {
    const page = await (await system().as('lessee-manager', { javaScriptEnabled: false })).newPage();
    await page.goto('/inbox');
    await page.getByRole('link', { name: 'Answer' }).first().click();
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await page.getByRole('status').getByText('You have consented').waitFor();
    await page.getByText('Consent: now').first().waitFor();
  });

  test('without JavaScript a window is added and removed', async () => {
    const page = await (await system().as('owner-manager', { javaScriptEnabled: false })).newPage();
    await page.goto('/windows');
    await page.locator('main [name=name]').fill('nights');
    await page.getByRole('button', { name: 'Add window' }).click();
    await page.getByRole('status').getByText('The window nights is added.').waitFor();
    await page.getByRole('button', { name: 'Remove nights' }).click();
    await page.getByRole('dialog', { name: 'Remove nights' }).getByRole('button', { name: 'Remove nights' }).click();
    await page.getByRole('status').getByText('The window is removed.').waitFor();
  });
});
