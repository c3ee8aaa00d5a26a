/** Discovered machines: inspections without a node become records for an operator, within limits. */
import type { Reported } from '../../../inventory/discovered-machines';
import { claimsOf, discoveryLimits } from '../../../model/boot/discovery';
import { sha256Of } from '../../../model/digests';
import type { Document } from '../../../model/document';
import { raise } from '../../../model/errors';
import type { ApiContext } from '../../context';
import { macsAmong } from './lookup';

type Inventory = Document & { readonly interfaces: readonly { readonly mac_address: string }[] };

const refusals: Readonly<Record<Exclude<Reported['is'], 'new' | 'known'>, string>> = {
  'all full': `${discoveryLimits.records} machines are recorded; operators enrol, refuse or remove some first`,
  'sender full': `reports from its address have made ${discoveryLimits.ofSender} records`,
  shared: `${discoveryLimits.sharing} records have one of its MAC addresses`,
};

/** Stores an inspection. Throws NodeNotFound if it has no network card, DiscoveryRefused, DiscoveryTooLong. */
export const recordDiscovered = async (ctx: ApiContext, inventory: Inventory, sender: string) => {
  const macs = macsAmong(inventory.interfaces.map((one) => one.mac_address));
  const claims = claimsOf(inventory, macs);
  if (!claims || sender === '') return raise('NodeNotFound', { node: macs.join(', ') });
  const text = JSON.stringify(inventory);
  const bytes = Buffer.byteLength(text);
  if (bytes > discoveryLimits.bytes) raise('DiscoveryTooLong', { bytes, most: discoveryLimits.bytes });
  const key = sha256Of(claims.macs.join());
  const said = { ...claims, key, sender, inventory, revision: sha256Of(`${sender} ${text}`) };
  const became = await ctx.inventory.transaction(async ({ discoveredMachines, events }) => {
    const reported = await discoveredMachines.report(said, discoveryLimits);
    if (reported.is === 'new')
      await events.append({ kind: 'discovered_machine.reported', data: machineFacts(reported.uuid) });
    return reported;
  });
  if (became.is !== 'new' && became.is !== 'known') {
    ctx.log.warn('discovered machine not recorded', { sender, reason: refusals[became.is] });
    raise('DiscoveryRefused', { reason: refusals[became.is] });
  }
  return { status: 202, body: {} };
};

const machineFacts = (uuid: string) => ({ discovered_machine_uuid: uuid });
