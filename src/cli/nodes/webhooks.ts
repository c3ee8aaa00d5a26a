/** `temper webhooks`: receivers of events, of a project or of the installation, and how deliveries went. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Delivery, Webhook } from '../../wire/records';
import { type PageOptions, pageOptions, printPage } from '../access/pages';
import type { Acting, Context } from '../context';
import { listing, plainText } from '../tables';

const webhooksPath = '/temper/v1/webhooks';
const webhookPath = (webhook: string): string => `${webhooksPath}/${encodeURIComponent(webhook)}`;

const webhookTable = listing<Omit<Webhook, 'secret'>>(
  'webhooks',
  ['WEBHOOK', 'URL', 'KINDS', 'PROJECT', 'ENABLED', 'DESCRIPTION'],
  (one) => [one.uuid, one.url, one.kinds.join(','), one.project ?? 'all nodes', one.enabled, one.description],
);

const deliveryTable = listing<Delivery>(
  'deliveries',
  ['AT', 'EVENT', 'KIND', 'STATE', 'ATTEMPTS', 'STATUS', 'ERROR'],
  (one) => [one.created_at, one.event_seq, one.kind, one.state, one.attempts, one.status, one.error],
);

type AddOptions = { readonly kinds: string; readonly project?: string; readonly description?: string };

const addWebhook = async ({ api, print, width }: Context, url: string, given: AddOptions): Promise<void> => {
  const { project, description } = given;
  const kinds = given.kinds.split(',').map((kind) => kind.trim());
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const optional = { ...(project !== undefined && { project }), ...(description !== undefined && { description }) };
  const made = (await api.send('POST', webhooksPath, { url, kinds, secret, ...optional })) as Webhook;
  print(
    { ...made, secret },
    (row) => `${webhookTable([row], width)}\nSecret, shown this once; the receiver verifies by it: ${secret}\n`,
  );
};

const deleteWebhook = async ({ api, print }: Context, webhook: string): Promise<void> => {
  await api.send('DELETE', webhookPath(webhook));
  print({ uuid: webhook }, ({ uuid }) => `Webhook ${plainText(uuid)} is deleted.\n`);
};

const setEnabled =
  (enabled: boolean) =>
  async ({ api, print, width }: Context, webhook: string): Promise<void> =>
    print((await api.send('PATCH', webhookPath(webhook), { enabled })) as Webhook, (row) => webhookTable([row], width));

const listWebhooks = (context: Context, page: PageOptions): Promise<void> =>
  printPage(context, { path: webhooksPath, rows: 'webhooks' }, page, webhookTable);

const listDeliveries = (context: Context, webhook: string, page: PageOptions): Promise<void> =>
  printPage(context, { path: `${webhookPath(webhook)}/deliveries`, rows: 'deliveries' }, page, deliveryTable);

export const addWebhooks = (program: Command, acting: Acting): void => {
  const webhooks = program.command('webhooks').description('addresses to which events are sent');
  const one = (name: string, says: string) =>
    webhooks.command(name).description(says).argument('<webhook>', 'its UUID');
  pageOptions(webhooks.command('list').description('those that you may see'), 'webhook').action(acting(listWebhooks));
  webhooks
    .command('add')
    .description('send events to an address, which TEMPER_WEBHOOK_ORIGINS must allow')
    .argument('<url>')
    .requiredOption('--kinds <kinds>', 'such as run.failed,node.* or *')
    .option('--project <project>', 'whose nodes; by default your project, or all nodes for system administrators')
    .option('--description <text>')
    .action(acting(addWebhook));
  pageOptions(one('deliveries', 'what was sent lately, and how it went'), 'delivery').action(acting(listDeliveries));
  one('disable', 'send nothing for now').action(acting(setEnabled(false)));
  one('enable', 'send again').action(acting(setEnabled(true)));
  one('delete', 'delete one').action(acting(deleteWebhook));
};
