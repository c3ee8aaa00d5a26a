/** POST /v1/continue_inspection: inspection data of a ramdisk, before its node is identified. */
import { z } from 'zod';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { hashOf } from '../../../inventory/secrets/boot-tokens';
import { cidrContains, isIpAddress, parseBmcAddress } from '../../../model/access/bmc-addresses';
import { isTemperError, raise } from '../../../model/errors';
import type { NodeUuid } from '../../../model/ids';
import { inspectionStates } from '../../../model/lifecycle/agents';
import { interfaceOf, isDriver } from '../../../model/lifecycle/drivers';
import * as shapes from '../../../wire/ironic';
import type { ApiContext } from '../../context';
import { uuid } from '../../resource/validation';
import { type ApiRequest, route } from '../../server/route';
import { recordDiscovered } from './discovered';
import { lookupBody, macsAmong, nodeAt } from './lookup';
import { notifyRun } from './notify-run';
import { isOwnRamdisk, peerOf } from './peers';

const inspectionRule = 'baremetal:driver:ipa_continue_inspection';

/** Bytes; openstack/ironic:ironic/conf/api.py */
const bodyLimit = 16 * 1024 * 1024;

/** Disks, devices and logs of a large machine make long lists. */
const bodyValues = 100_000;

/** Version of the response with the node in it; older ones get the form of 1.1. */
const nodeShownSince = 84;

/** Above any real machine; each is looked up. */
const mostInterfaces = 128;

const inspectionBody = z.looseObject({
  inventory: z.looseObject({
    interfaces: z
      .array(z.looseObject({ mac_address: z.string() }))
      .min(1)
      .max(mostInterfaces),
    bmc_address: z.string().nullish(),
    bmc_v6address: z.string().nullish(),
  }),
});
/** `boot`: the ramdisk has its token from its boot image. */
const inspectionQuery = z.strictObject({ node_uuid: uuid.optional(), boot: z.string().max(64).optional() });
type InspectionFound = z.output<typeof inspectionBody>;
type InspectionRequest = ApiRequest<unknown, z.output<typeof inspectionQuery>, InspectionFound>;

const hostOf = (driver: string, driver_info: Readonly<Record<string, unknown>>): string | undefined => {
  try {
    return isDriver(driver) ? parseBmcAddress(driver_info, { driver })?.host : undefined;
  } catch (thrown) {
    if (isTemperError(thrown, 'DriverInfoInvalid')) return undefined;
    throw thrown;
  }
};

/** The only node in inspection, without ports, that has this BMC address; none if several match. */
const nodeByBmc = async (ctx: ApiContext, { inventory }: InspectionFound): Promise<NodeUuid | undefined> => {
  const given = [inventory.bmc_address, inventory.bmc_v6address].filter(
    (text): text is string => typeof text === 'string' && isIpAddress(text) && !/^[0.:]*$/.test(text),
  );
  if (given.length === 0) return undefined;
  const waiting = await ctx.inventory.agents.bmcsIn(inspectionStates);
  const fitting = waiting.filter(({ driver, driver_info }) => {
    const host = hostOf(driver, driver_info);
    return host !== undefined && given.some((address) => cidrContains(address, host));
  });
  const [only, ...others] = fitting;
  // For a node with ports, a ramdisk's addresses must match them: a BMC address is easy to guess.
  if (!only || others.length > 0 || (await ctx.inventory.agents.hasPorts(only.uuid))) return undefined;
  return only.uuid;
};

/** The node for the reported addresses. */
const nodeByAddresses = async (
  ctx: ApiContext,
  request: InspectionRequest,
  macs: readonly string[],
): Promise<NodeUuid | undefined> => {
  const named = request.query.node_uuid as NodeUuid | undefined;
  const byPorts = await nodeAt(ctx, macs, named);
  const isUnowned =
    byPorts === undefined && named === undefined && (await ctx.inventory.agents.withPorts(macs)).length === 0;
  return byPorts ?? (isUnowned ? nodeByBmc(ctx, request.body) : undefined);
};

/**
 * The inspected node: by the token from the boot image, else by the reported addresses.
 * Addresses alone do not identify a node whose ramdisk has a token. Undefined for a machine to record as discovered.
 * Throws NodeNotFound.
 */
const inspected = async (ctx: ApiContext, request: InspectionRequest): Promise<NodeRow | undefined> => {
  const macs = macsAmong(request.body.inventory.interfaces.map((one) => one.mac_address));
  const { boot, node_uuid } = request.query;
  const { ramdiskBoots } = ctx.inventory;
  const found =
    boot === undefined ? await nodeByAddresses(ctx, request, macs) : await ramdiskBoots.broughtBy(hashOf(boot));
  const node = found && (await ctx.inventory.nodes.find({ uuid: found }));
  const awaited = node && inspectionStates.includes(node.provision_state) && interfaceOf(node, 'inspect') === 'agent';
  const proven = boot !== undefined || !found || typeof (await ramdiskBoots.brings(found)) !== 'string';
  if (awaited && proven) return node;
  const named = boot !== undefined || node_uuid !== undefined;
  if (ctx.settings.discovery && !found && !named && (await ctx.inventory.agents.withPorts(macs)).length === 0)
    return undefined;
  return raise('NodeNotFound', { node: node_uuid ?? macs.join(', ') });
};

const continueInspection = async (request: InspectionRequest, ctx: ApiContext) => {
  ctx.policy().require(inspectionRule, request.who);
  if (request.version !== 1 && request.version < nodeShownSince) raise('PathNotFound');
  const node = await inspected(ctx, request);
  if (!node) return recordDiscovered(ctx, request.body.inventory, peerOf(request));
  // The ramdisk sends its data once, and retries only after a 5xx. A fast one may send before its power-on act has ended.
  if (!(await isOwnRamdisk(ctx, node, peerOf(request)))) return raise('RamdiskTooEarly');
  const { inventory, ...plugin_data } = request.body;
  await ctx.inventory.details.write(node.uuid, { inventory, plugin_data });
  if (!node.maintenance) notifyRun(ctx, node.uuid, 'inspection');
  return {
    status: 202,
    body: request.version === 1 ? { uuid: node.uuid } : await lookupBody(ctx, request, node),
  };
};

export const inspectionRoute = route({
  method: 'POST',
  path: '/v1/continue_inspection',
  answers: { 202: shapes.continued },
  rules: [inspectionRule],
  open: true,
  bodyLimit,
  bodyValues,
  cleansTexts: true,
  query: inspectionQuery,
  body: inspectionBody,
  handler: continueInspection,
});
