/** Boots of machines without a node. */
import type { Db } from './database';
import type { RamdiskRow } from './ramdisks';

export type DiscoveryRamdisk = Pick<RamdiskRow, 'uuid' | 'arch' | 'args'> & {
  readonly kernel_sha256: string;
  readonly initrd_sha256: string;
};

/** `name`: the ramdisk record for such machines. */
export const discoveryBoots = (sql: Db) => ({
  /** Undefined if the MAC address has a node or a refusal, or the ramdisk does not boot by the network. */
  async ramdiskFor(mac: string, name: string): Promise<DiscoveryRamdisk | undefined> {
    const [row] = await sql<DiscoveryRamdisk[]>`
      select uuid, arch, args, kernel_sha256, initrd_sha256 from ramdisks
      where name = ${name} and kernel_sha256 is not null and initrd_sha256 is not null and is_undiscovered(${mac})`;
    return row;
  },

  /** By UUID if it still has this name; without `uuid` by name. */
  async ramdisk(name: string, uuid?: string): Promise<DiscoveryRamdisk | undefined> {
    const [row] = await sql<DiscoveryRamdisk[]>`
      select uuid, arch, args, kernel_sha256, initrd_sha256 from ramdisks
      where name = ${name} and kernel_sha256 is not null and initrd_sha256 is not null
        and (${uuid ?? null}::uuid is null or uuid = ${uuid ?? null})`;
    return row;
  },
});
