/** Routes of webhooks: receivers of the installation or of a project, and lists of their deliveries. */

import { isIP } from 'node:net';
import { z } from 'zod';
import type { Queries } from '../../../inventory';
import type { SealedSecret } from '../../../inventory/secrets/vault';
import type { DeliveryRow, WebhookRow, WebhookValues } from '../../../inventory/webhooks';
import type { Caller } from '../../../model/access/callers';
import { masked } from '../../../model/access/secrets';
import { raise } from '../../../model/errors';
import {
  allowedTarget,
  eventKindFault,
  requireFarAway,
  webhookKeys,
  webhookSecretSays,
} from '../../../model/resources/webhooks';
import { webhookTarget } from '../../../policy';
import * as shapes from '../../../wire/records';
import type { ApiContext } from '../../context';
import { markedRecord, readPage, uuidPageQuery } from '../../resource/own-pages';
import { isoTime } from '../../resource/times';
import { uuid } from '../../resource/validation';
import { ok, route } from '../../server/route';
import { type RecordWrite, recordRoutes } from './record-routes';

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
    .max(300)
    .refine((text) => text !== masked, {
      error: 'is the mask of a secret; send the secret itself, or leave it out',
      abort: true,
    })
    .refine((text) => webhookKeys(text) !== undefined, { error: webhookSecretSays }),
  enabled: z.boolean(),
  description: z.string().max(255).nullable(),
};
const webhookBody = z.strictObject({
  ...webhookFields,
  project: z.string().min(1).max(255).optional(),
  enabled: webhookFields.enabled.default(true),
  description: webhookFields.description.default(null),
});
const changeBody = z.strictObject(webhookFields).partial();
const webhookParams = z.object({ webhook: uuid });

const webhookView = (row: WebhookRow, link: string) => ({
  uuid: row.uuid,
  project: row.project,
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

const sealed = (ctx: ApiContext, secret: string) => vaultOf(ctx).seal(secret);

const getRule = 'temper:webhook:get';

/** Throws WebhookNotFound, also if the caller may not see it. */
const requireVisible = async (ctx: ApiContext, who: Caller, webhook: string): Promise<void> => {
  const row = await ctx.inventory.webhooks.find(webhook);
  if (!row || !ctx.policy().allows(getRule, who, webhookTarget(row))) raise('WebhookNotFound', { webhook });
};

/** Writes the sealed secret with its record. */
const withSecret =
  (
    seal: SealedSecret | undefined,
    write: (store: Queries) => Promise<WebhookRow | undefined>,
  ): RecordWrite<WebhookRow> =>
  async (store) => {
    const row = await write(store);
    if (row && seal) await store.webhooks.setSecret(row.uuid, seal);
    return row;
  };

const webhookRecords = recordRoutes({
  resource: 'webhook',
  ident: uuid,
  ofProject: {
    orInstallation: true,
    target: webhookTarget,
    count: ({ webhooks }, project) => webhooks.count(project),
  },
  shape: shapes.webhook,
  viewer:
    async (_ctx, { base }) =>
    (row: WebhookRow) =>
      webhookView(row, base),
  store: ({ webhooks }) => webhooks,
  missing: (webhook) => raise('WebhookNotFound', { webhook }),
  body: webhookBody,
  async create(ctx, { secret, project: _named, ...values }, project) {
    await checkTarget(ctx, values.url);
    return withSecret(sealed(ctx, secret), ({ webhooks }) => webhooks.create({ ...values, project: project ?? null }));
  },
  changes: {
    body: changeBody,
    async write(ctx, row, { secret, ...values }) {
      const { url, kinds, enabled, description } = row;
      const next: WebhookValues = { url, kinds, enabled, description, ...values };
      // It can be switched off even if the target is no longer allowed.
      if (next.enabled || values.url !== undefined) await checkTarget(ctx, next.url);
      const seal = secret === undefined ? undefined : sealed(ctx, secret);
      return withSecret(seal, ({ webhooks }) => webhooks.update(row.uuid, next));
    },
  },
  /** The URL's path may be a secret of the receiver, so the record has only the origin. */
  values: ({ url, kinds, enabled }, { secret }) => ({
    origin: new URL(url).origin,
    kinds,
    enabled,
    new_secret: secret !== undefined,
  }),
});

const deliveriesPath = `${webhooksPath}/:webhook/deliveries`;

const listDeliveries = route({
  method: 'GET',
  path: deliveriesPath,
  answers: { 200: shapes.deliveries },
  rules: [getRule],
  params: webhookParams,
  query: uuidPageQuery,
  async handler(request, ctx) {
    const { webhook } = request.params;
    const { marker } = request.query;
    await requireVisible(ctx, request.who, webhook);
    const { webhooks } = ctx.inventory;
    const known = async (delivery: string) => ((await webhooks.hasDelivery(webhook, delivery)) ? delivery : undefined);
    const after = await markedRecord(marker, known);
    const read = (limit: number) => webhooks.deliveries(webhook, { limit, after });
    const { rows, next } = await readPage(request, deliveriesPath, read, ({ uuid }) => uuid);
    return ok({ deliveries: rows.map(shownDelivery), ...next });
  },
});

export const webhookRoutes = [...webhookRecords, listDeliveries];
