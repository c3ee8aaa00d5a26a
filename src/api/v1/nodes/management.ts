/** /v1/nodes/{ident}/management: boot device and interrupt. The response waits for the BMC. */

import { z } from 'zod';
import { flag } from '../../../admission/schemas';
import * as shapes from '../../../wire/ironic';
import type { ApiContext } from '../../context';
import { type ApiRequest, noContent, ok, type Route } from '../../server/route';
import { actOn, lookAt } from './bmc-calls';
import { type NodeParams, nodeRoute } from './node-route';

const managementRules = {
  get: 'baremetal:node:get_boot_device',
  set: 'baremetal:node:set_boot_device',
  nmi: 'baremetal:node:inject_nmi',
} as const;

const bootDevice = z
  .object({ boot_device: z.string().nullable().catch(null), persistent: z.boolean().nullable().catch(null) })
  .catch({ boot_device: null, persistent: null });
const bootDevices = z.object({ supported_boot_devices: z.array(z.string()) }).catch({ supported_boot_devices: [] });

const managementBody = z.strictObject({ boot_device: z.string(), persistent: flag.nullish() });

const setBootDevice = async (
  request: ApiRequest<NodeParams, unknown, z.output<typeof managementBody>>,
  ctx: ApiContext,
) => {
  const { boot_device, persistent } = request.body;
  await actOn(request, ctx, {
    rule: managementRules.set,
    step: 'set_boot_device',
    args: { boot_device, persistent: persistent ?? false },
  });
  return noContent();
};
export const nodeManagementRoutes: Route[] = [
  nodeRoute('GET', '/management/boot_device', {
    answers: { 200: shapes.bootDevice },
    rules: [managementRules.get],
    handler: async (request, ctx) =>
      ok(bootDevice.parse(await lookAt(request, ctx, managementRules.get, 'read_boot_device'))),
  }),
  nodeRoute('GET', '/management/boot_device/supported', {
    answers: { 200: shapes.bootDevices },
    rules: [managementRules.get],
    handler: async (request, ctx) =>
      ok(bootDevices.parse(await lookAt(request, ctx, managementRules.get, 'list_boot_devices'))),
  }),
  nodeRoute('PUT', '/management/boot_device', {
    rules: [managementRules.set],
    body: managementBody,
    arguments: true,
    handler: setBootDevice,
  }),
  nodeRoute('PUT', '/management/inject_nmi', {
    since: 29,
    rules: [managementRules.nmi],
    body: z.strictObject({}),
    arguments: true,
    handler: async (request, ctx) => {
      await actOn(request, ctx, { rule: managementRules.nmi, act: 'inject_nmi' });
      return noContent();
    },
  }),
];
