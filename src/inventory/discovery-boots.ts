/** Queries of what machines are booted into that no node stands for. */
import type { Db } from './database';
import type { RamdiskRow } from './ramdisks';

/** A ramdisk that boots by the network. */
export type DiscoveryRamdisk = Pick<RamdiskRow, 'uuid' | 'arch' | 'args'> & {
  readonly kernel_sha256: string;
  readonly initrd_sha256: string;
};

/** `name`: of the ramdisk record that such machines are booted into. */
export const discoveryBoots = (sql: Db) => ({
  /** The ramdisk for a machine; undefined where a node or a refusal stands for its MAC address, or no such record loads by the network. */
  async ramdiskFor(mac: string, name: string): Promise<DiscoveryRamdisk | undefined> {
    const [row] = await sql<DiscoveryRamdisk[]>`
      select uuid, arch, args, kernel_sha256, initrd_sha256 from ramdisks
      where name = ${name} and kernel_sha256 is not null and initrd_sha256 is not null and is_undiscovered(${mac})`;
    return row;
  },

  /** The ramdisk of this UUID, where it still is the one of this name; without `uuid` the one of this name. */
  async ramdisk(name: string, uuid?: string): Promise<DiscoveryRamdisk | undefined> {
    const [row] = await sql<DiscoveryRamdisk[]>`
      select uuid, arch, args, kernel_sha256, initrd_sha256 from ramdisks
      where name = ${name} and kernel_sha256 is not null and initrd_sha256 is not null
        and (${uuid ?? null}::uuid is null or uuid = ${uuid ?? null})`;
    return row;
  },
});
