/** One ramdisk for each boot, at one address: the first that asks for a node after its run has powered it on. */
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { cidrContains, isIpAddress } from '../../../model/access/bmc-addresses';
import { raise, TemperError } from '../../../model/errors';
import type { ApiContext, ContextSettings } from '../../context';
import type { ApiRequest } from '../../http/route';
import { notifyRun } from './notify-run';

/** What the boot service puts into `Via` of a ramdisk's request that it passes on; a proxy between it and the API adds its own. */
const bootService = /(?:^|,)\s*1\.1 temper-boot\s*(?:,|$)/;
/** Whom the boot service takes for the sender. */
const senderHeader = 'x-temper-ramdisk';

/** Whether two texts are one address; an IPv4 address mapped into IPv6 is itself. */
const isSameAddress = (a: string, b: string): boolean => isIpAddress(a) && cidrContains(a, b);

/**
 * The address that a request comes from, as the listener sees it through trusted proxies; empty where there is none.
 * Throws Forbidden where the boot service passes a request on and another address is seen than the one that it has it from: where it
 * is no trusted proxy itself, or one before or behind it is trusted by one of both alone, all ramdisks would be one.
 */
export const peerOf = ({
  origin,
  header,
}: Pick<ApiRequest<unknown, unknown, unknown>, 'origin' | 'header'>): string => {
  const address = origin.address ?? '';
  if (!bootService.test(header('via') ?? '')) return address;
  // Empty where the boot service trusts all addresses that it sees: the API then believes the first of them.
  const sender = header(senderHeader) || undefined;
  const passedBy = (origin.forwarded_for ?? '').split(',').map((one) => one.trim());
  if (sender === undefined ? !passedBy.includes(address) : !isSameAddress(sender, address))
    raise('Forbidden', {
      reason: `The boot service, or a proxy beside it, is not among TEMPER_TRUSTED_PROXIES of the API: this request seems to come from ${address}.`,
    });
  return address;
};

/**
 * Whether a request about a node comes from the ramdisk that its run has booted: the first address that asked since. At
 * another address there are two, and it cannot be known which is the node's own: the run fails and the node goes to maintenance.
 */
export const isOwnRamdisk = async (ctx: ApiContext, node: NodeRow, peer: string): Promise<boolean> => {
  if (peer === '') return false;
  const first = await ctx.inventory.ramdiskBoots.claim(node.uuid, peer);
  if (first === undefined || isSameAddress(peer, first)) return first !== undefined;
  await contest(ctx, node, { first, second: peer });
  return false;
};

const contest = async (
  ctx: ApiContext,
  node: NodeRow,
  { first, second }: { readonly first: string; readonly second: string },
): Promise<void> => {
  const { message } = new TemperError('RamdiskConflict', { node: node.name ?? node.uuid });
  if (!(await ctx.inventory.ramdiskBoots.contest(node.uuid, second, message))) return;
  ctx.log.warn('two ramdisks answer for one node', { node_uuid: node.uuid, first, second });
  for (const kind of ['heartbeat', 'inspection'] as const) notifyRun(ctx, node.uuid, kind);
};

/** Whether a URL's host is the address that the request came from; a name has to resolve to it and to nothing else. */
export const leadsTo = async (settings: ContextSettings, { hostname }: URL, peer: string): Promise<boolean> => {
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIpAddress(host) ? [host] : await settings.lookup(host).catch(() => []);
  return found.length > 0 && found.every((address) => isSameAddress(peer, address));
};
