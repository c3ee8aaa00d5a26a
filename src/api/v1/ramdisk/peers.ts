/** One ramdisk per boot, at one address: the first that requests the node after its run's power-on. */
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { cidrContains, isIpAddress } from '../../../model/access/bmc-addresses';
import { raise, TemperError } from '../../../model/errors';
import type { ApiContext, ContextSettings } from '../../context';
import type { ApiRequest } from '../../server/route';
import { notifyRun } from './notify-run';

/** The boot service's entry in `Via`. A proxy between it and the API adds another. */
const bootService = /(?:^|,)\s*1\.1 temper-boot\s*(?:,|$)/;
/** The sender's address as the boot service sees it. */
const senderHeader = 'x-temper-ramdisk';

/** True for equal addresses; an IPv4 address equals its IPv6-mapped form. */
const isSameAddress = (a: string, b: string): boolean => isIpAddress(a) && cidrContains(a, b);

/**
 * The client address behind trusted proxies; empty if unknown.
 * Throws Forbidden if the boot service and the API see different addresses of one request.
 * Then a proxy, perhaps the boot service itself, is trusted by only one of them, and all ramdisks would have one address.
 */
export const peerOf = ({
  origin,
  header,
}: Pick<ApiRequest<unknown, unknown, unknown>, 'origin' | 'header'>): string => {
  const address = origin.address ?? '';
  if (!bootService.test(header('via') ?? '')) return address;
  // The boot service sends an empty address if it trusts all proxies. The API then uses the first one.
  const sender = header(senderHeader) || undefined;
  const passedBy = (origin.forwarded_for ?? '').split(',').map((one) => one.trim());
  if (sender === undefined ? !passedBy.includes(address) : !isSameAddress(sender, address))
    raise('Forbidden', {
      reason: `The boot service, or a proxy beside it, is not among TEMPER_TRUSTED_PROXIES of the API: this request seems to come from ${address}.`,
    });
  return address;
};

/**
 * True if the request comes from the ramdisk that the node's run booted: the first address since power-on.
 * With a second address the node's own ramdisk is unknown, so the run fails and the node goes to maintenance.
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

/** True if the URL's host is the request's address. A name must resolve to that address only. */
export const leadsTo = async (settings: ContextSettings, { hostname }: URL, peer: string): Promise<boolean> => {
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIpAddress(host) ? [host] : await settings.lookup(host).catch(() => []);
  return found.length > 0 && found.every((address) => isSameAddress(peer, address));
};
