/** /v1/nodes/{ident}/management: boot device and interrupt, answered when the BMC has. */
import { z } from 'zod';
import type { Rooms } from '../../context';
import { type Answer, type Asking, noContent, ok, type Route, route } from '../../http/route';
import { flag } from '../../resource/validation';
import * as shapes from '../shapes';
import { actOn, lookAt } from './bmc-calls';
import { type NodeParams, nodeParams } from './nodes';

const see = 'baremetal:node:get';
const rules = {
  get: 'baremetal:node:get_boot_device',
  set: 'baremetal:node:set_boot_device',
  nmi: 'baremetal:node:inject_nmi',
} as const;

const bootDevice = z
  .object({ boot_device: z.string().nullable().catch(null), persistent: z.boolean().nullable().catch(null) })
  .catch({ boot_device: null, persistent: null });
const bootDevices = z.object({ supported_boot_devices: z.array(z.string()) }).catch({ supported_boot_devices: [] });

const body = z.strictObject({ boot_device: z.string(), persistent: flag.nullish() });

const setBootDevice = async (
  asking: Asking<NodeParams, unknown, z.output<typeof body>>,
  rooms: Rooms,
): Promise<Answer> => {
  const { boot_device, persistent } = asking.body;
  await actOn(asking, rooms, {
    rule: rules.set,
    step: 'set_boot_device',
    args: { boot_device, persistent: persistent ?? false },
  });
  return noContent();
};

const path = '/v1/nodes/:node_ident/management';

export const nodeManagementRoutes: Route[] = [
  route<NodeParams>({
    method: 'GET',
    path: `${path}/boot_device`,
    answers: { 200: shapes.bootDevice },
    rules: [see, rules.get],
    params: nodeParams,
    handler: async (asking, rooms) => ok(bootDevice.parse(await lookAt(asking, rooms, rules.get, 'read_boot_device'))),
  }),
  route<NodeParams>({
    method: 'GET',
    path: `${path}/boot_device/supported`,
    answers: { 200: shapes.bootDevices },
    rules: [see, rules.get],
    params: nodeParams,
    handler: async (asking, rooms) =>
      ok(bootDevices.parse(await lookAt(asking, rooms, rules.get, 'list_boot_devices'))),
  }),
  route<NodeParams, unknown, z.output<typeof body>>({
    method: 'PUT',
    path: `${path}/boot_device`,
    rules: [see, rules.set],
    params: nodeParams,
    body,
    arguments: true,
    handler: setBootDevice,
  }),
  route<NodeParams, unknown, object>({
    method: 'PUT',
    path: `${path}/inject_nmi`,
    since: 29,
    rules: [see, rules.nmi],
    params: nodeParams,
    body: z.strictObject({}),
    arguments: true,
    handler: async (asking, rooms) => {
      await actOn(asking, rooms, { rule: rules.nmi, act: 'inject_nmi' });
      return noContent();
    },
  }),
];
