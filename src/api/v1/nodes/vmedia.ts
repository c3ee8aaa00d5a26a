/** /v1/nodes/{ident}/vmedia: images in virtual drives. */
import { z } from 'zod';
import { requireOrigin } from '../../../model/access/origins';
import { maskSecrets } from '../../../model/access/secrets';
import type { Document } from '../../../model/document';
import { raise } from '../../../model/errors';
import { mediaTypes } from '../../../model/lifecycle/steps';
import * as shapes from '../../../wire/ironic';
import type { ApiContext } from '../../context';
import { type ApiRequest, noContent, ok, type Route } from '../../server/route';
import { actOn, lookAt } from './bmc-calls';
import { type NodeParams, nodeRoute } from './node-route';

const vmediaRules = {
  get: 'baremetal:node:vmedia:get',
  attach: 'baremetal:node:vmedia:attach',
  detach: 'baremetal:node:vmedia:detach',
} as const;

const deviceType = z.enum(mediaTypes);
const attachment = z.strictObject({
  device_type: deviceType,
  image_url: z.string().max(2_048),
  image_download_source: z.enum(['http', 'local', 'swift']).nullish(),
});

const attach = async (request: ApiRequest<NodeParams, unknown, z.output<typeof attachment>>, ctx: ApiContext) => {
  const { device_type, image_url, image_download_source: source } = request.body;
  if (source && source !== 'http')
    raise('InvalidInput', {
      field: 'image_download_source',
      reason: 'only http is offered: BMCs fetch images themselves',
    });
  requireOrigin(ctx.settings.imageOrigins, image_url);
  await actOn(request, ctx, {
    rule: vmediaRules.attach,
    step: 'attach_virtual_media',
    args: { image_url, device_type },
  });
  return noContent();
};

const someTypes = z
  .union([z.string().transform((text) => text.split(',').map((part) => part.trim())), z.array(z.string())])
  .pipe(z.array(deviceType).min(1));
const detachment = z.strictObject({ device_types: someTypes.nullish() });

const detach = async (request: ApiRequest<NodeParams, unknown, z.output<typeof detachment>>, ctx: ApiContext) => {
  const types = [...new Set(request.body.device_types ?? [])];
  // All kinds together equal no kind, in one run instead of three.
  const wanted = types.length === 0 || types.length === mediaTypes.length ? [undefined] : types;
  for (const device_type of wanted)
    await actOn(request, ctx, {
      rule: vmediaRules.detach,
      step: 'detach_virtual_media',
      args: device_type ? { device_type } : {},
    });
  return noContent();
};
export const nodeVmediaRoutes: Route[] = [
  nodeRoute('GET', '/vmedia', {
    answers: { 200: shapes.media },
    since: 93,
    rules: [vmediaRules.get],
    // Ironic's clients read a bare list. An image's URL may contain credentials.
    handler: async (request, ctx) => {
      const found = (await lookAt(request, ctx, vmediaRules.get, 'read_media')) as readonly Document[] | undefined;
      return ok(maskSecrets(found ?? []));
    },
  }),
  nodeRoute('POST', '/vmedia', {
    answers: { 204: null },
    since: 89,
    rules: [vmediaRules.attach],
    body: attachment,
    arguments: true,
    handler: attach,
  }),
  nodeRoute('DELETE', '/vmedia', {
    since: 89,
    rules: [vmediaRules.detach],
    body: detachment,
    arguments: true,
    handler: detach,
  }),
];
