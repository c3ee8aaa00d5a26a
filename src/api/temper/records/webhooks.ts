/** Routes of webhooks: system administrators configure receivers and list deliveries. */

import { isIP } from 'node:net';
import { z } from 'zod';
import type { Queries } from '../../../inventory';
import type { DeliveryRow, WebhookRow, WebhookValues } from '../../../inventory/webhooks';
import { masked } from '../../../model/access/secrets';
import { raise } from '../../../model/errors';
import { allowedTarget, eventKindFault, requireFarAway } from '../../../model/resources/webhooks';
import * as shapes from '../../../wire/records';
import { type AuditedAct, auditedWrite, type Change, recordChange } from '../../audit/record';
import type { ApiContext } from '../../context';
import { markedRecord, readPage, uuidPage } from '../../resource/own-pages';
import { isoTime } from '../../resource/times';
import { uuid } from '../../resource/validation';
import { created, noContent, ok, route } from '../../server/route';

const webhooksPath = '/temper/v1/webhooks';

const webhookFields = {
  url: z.string().max(2_000).meta({ format: 'uri' }),
  kinds: z
    .array(
      z.string().superRefine((kind, context) => {
        const message = eventKindFault(kind);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      }),
    )
    .min(1, { error: 'must name at least one kind of event; * is all of them' })
    .max(50),
  secret: z
    .string()
    .min(16, { error: 'must have at least 16 characters; deliveries are signed with it' })
    .max(255)
    .refine((text) => text !== masked, { error: 'is the mask of a secret; send the secret itself, or leave it out' }),
  enabled: z.boolean(),
  description: z.string().max(255).nullable(),
};
const webhookBody = z.strictObject({
  ...webhookFields,
  enabled: webhookFields.enabled.default(true),
  description: webhookFields.description.default(null),
});
const changeBody = z.strictObject(webhookFields).partial();
const webhookParams = z.object({ webhook: uuid });
type WebhookParams = z.output<typeof webhookParams>;

const webhookView = (row: WebhookRow, link: string) => ({
  uuid: row.uuid,
  url: row.url,
  kinds: row.kinds,
  enabled: row.enabled,
  description: row.description,
  secret: masked,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
  links: { self: `${link}${webhooksPath}/${row.uuid}`, deliveries: `${link}${webhooksPath}/${row.uuid}/deliveries` },
});

const shownDelivery = (row: DeliveryRow) => ({
  ...row,
  next_at: row.state === 'pending' ? isoTime(row.next_at) : null,
  created_at: isoTime(row.created_at),
  finished_at: isoTime(row.finished_at),
});

/** Refuses early what the control worker would refuse at delivery. A name that does not resolve may do so later. */
const checkTarget = async ({ settings }: ApiContext, text: string): Promise<void> => {
  const host = allowedTarget(settings.webhookOrigins, text).hostname.replace(/^\[|\]$/g, '');
  if (isIP(host)) return;
  requireFarAway(host, await settings.lookup(host).catch(() => []));
};

const vaultOf = ({ webhookVault }: ApiContext) =>
  webhookVault ?? raise('Conflict', { reason: 'Webhooks are off: TEMPER_WEBHOOK_KEYS is not set.' });

const sealed = (ctx: ApiContext, secret: string) => vaultOf(ctx).seal({ secret }).secrets[0]!;

const findWebhook = async (ctx: ApiContext, webhook: string): Promise<WebhookRow> =>
  (await ctx.inventory.webhooks.find(webhook)) ?? raise('WebhookNotFound', { webhook });

/** The URL's path may be a secret of the receiver, so the record has only the origin. */
const changeOf =
  (act: AuditedAct, secret: boolean) =>
  ({ uuid, url, kinds, enabled }: WebhookRow): Change =>
    recordChange({
      resource: 'webhook',
      act,
      rule: `temper:webhook:${act}`,
      uuid,
      values: { origin: new URL(url).origin, kinds, enabled, new_secret: secret },
    });

const pageQuery = z.strictObject(uuidPage);
type PageQuery = z.output<typeof pageQuery>;

const listWebhooks = route<unknown, PageQuery>({
  method: 'GET',
  path: webhooksPath,
  answers: { 200: shapes.webhooks },
  rules: ['temper:webhook:get'],
  query: pageQuery,
  async handler(request, ctx) {
    ctx.policy().require('temper:webhook:get', request.who);
    const { marker } = request.query;
    await markedRecord(marker, 'WebhookNotFound', (webhook) => findWebhook(ctx, webhook));
    const read = (limit: number) => ctx.inventory.webhooks.list({ limit, after: marker });
    const { rows, next } = await readPage(request, webhooksPath, read, ({ uuid }) => uuid);
    return ok({ webhooks: rows.map((row) => webhookView(row, request.base)), ...next });
  },
});

const createWebhook = route<unknown, unknown, z.output<typeof webhookBody>>({
  method: 'POST',
  path: webhooksPath,
  answers: { 201: shapes.webhook },
  rules: ['temper:webhook:create'],
  body: webhookBody,
  async handler(request, ctx) {
    ctx.policy().require('temper:webhook:create', request.who);
    const { secret, ...values } = request.body;
    await checkTarget(ctx, values.url);
    const seal = sealed(ctx, secret);
    const create = async (store: Queries) => {
      const made = await store.webhooks.create(values);
      await store.webhooks.setSecret(made.uuid, seal);
      return made;
    };
    const row = await auditedWrite(ctx, request, create, changeOf('create', true));
    return created(webhookView(row, request.base), `${request.base}${webhooksPath}/${row.uuid}`);
  },
});

const showWebhook = route<WebhookParams>({
  method: 'GET',
  path: `${webhooksPath}/:webhook`,
  answers: { 200: shapes.webhook },
  rules: ['temper:webhook:get'],
  params: webhookParams,
  async handler({ who, params: { webhook }, base: link }, ctx) {
    ctx.policy().require('temper:webhook:get', who);
    return ok(webhookView(await findWebhook(ctx, webhook), link));
  },
});

const updateWebhook = route<WebhookParams, unknown, z.output<typeof changeBody>>({
  method: 'PATCH',
  path: `${webhooksPath}/:webhook`,
  answers: { 200: shapes.webhook },
  rules: ['temper:webhook:update'],
  params: webhookParams,
  body: changeBody,
  async handler(request, ctx) {
    ctx.policy().require('temper:webhook:update', request.who);
    const { secret, ...values } = request.body;
    const { url, kinds, enabled, description } = await findWebhook(ctx, request.params.webhook);
    const next: WebhookValues = { url, kinds, enabled, description, ...values };
    // Can be switched off even if the target is no longer allowed.
    if (next.enabled || values.url !== undefined) await checkTarget(ctx, next.url);
    const seal = secret === undefined ? undefined : sealed(ctx, secret);
    const update = async (store: Queries) => {
      const { webhook } = request.params;
      const changed = (await store.webhooks.update(webhook, next)) ?? raise('WebhookNotFound', { webhook });
      if (seal) await store.webhooks.setSecret(changed.uuid, seal);
      return changed;
    };
    const row = await auditedWrite(ctx, request, update, changeOf('update', seal !== undefined));
    return ok(webhookView(row, request.base));
  },
});

const deleteWebhook = route<WebhookParams>({
  method: 'DELETE',
  path: `${webhooksPath}/:webhook`,
  rules: ['temper:webhook:delete'],
  params: webhookParams,
  async handler(request, ctx) {
    const { webhook } = request.params;
    ctx.policy().require('temper:webhook:delete', request.who);
    const row = await findWebhook(ctx, webhook);
    const remove = async (store: Queries) =>
      (await store.webhooks.delete(webhook)) ? row : raise('WebhookNotFound', { webhook });
    await auditedWrite(ctx, request, remove, changeOf('delete', false));
    return noContent();
  },
});

const deliveriesPath = `${webhooksPath}/:webhook/deliveries`;

const listDeliveries = route<WebhookParams, PageQuery>({
  method: 'GET',
  path: deliveriesPath,
  answers: { 200: shapes.deliveries },
  rules: ['temper:webhook:get'],
  params: webhookParams,
  query: pageQuery,
  async handler(request, ctx) {
    const { webhook } = request.params;
    const { marker } = request.query;
    ctx.policy().require('temper:webhook:get', request.who);
    await findWebhook(ctx, webhook);
    if (marker !== undefined && !(await ctx.inventory.webhooks.hasDelivery(webhook, marker)))
      raise('MarkerNotFound', { marker });
    const read = (limit: number) => ctx.inventory.webhooks.deliveries(webhook, { limit, after: marker });
    const { rows, next } = await readPage(request, deliveriesPath, read, ({ uuid }) => uuid);
    return ok({ deliveries: rows.map(shownDelivery), ...next });
  },
});

export const webhookRoutes = [listWebhooks, createWebhook, showWebhook, updateWebhook, deleteWebhook, listDeliveries];
