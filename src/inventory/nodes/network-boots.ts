/** Queries of boots from the network: what a machine with a MAC address boots now, and which machines are answered at all. */
import type { NodeUuid, RunUuid } from '../../model/ids';
import type { Db } from '../database';

/** Who asks what it boots. */
export type Asking = {
  /** Lower case, with colons. */
  readonly mac: string;
  /** Address that the request comes from. */
  readonly peer: string;
  /** What it calls its architecture, as ramdisk records do; undefined where it does not say. */
  readonly arch?: string;
  /** What is put on record where a second machine asks in one boot. */
  readonly conflict: string;
};

type Boot = { readonly node_uuid: NodeUuid; readonly run_id: RunUuid; readonly arch: string };

/**
 * What comes of asking. `early`: its run has not powered the node on yet. `again`: this address was given the secret before.
 * `contested`: another address was, and the run fails by it now; `taken`: that is on record already.
 */
export type GrantedBoot =
  | { readonly is: 'none' }
  | ({ readonly is: 'early' | 'architecture' | 'again' | 'contested' | 'taken' } & Boot)
  | ({ readonly is: 'given'; readonly secret: string } & Boot);

/** A machine that DHCP answers. */
export type BootMachine = { readonly address: string; readonly secure_boot: boolean };

type Row = Boot & { readonly answer: GrantedBoot['is']; readonly secret: string | null };

export const networkBoots = (sql: Db) => ({
  /** Gives the secret of a boot's URL to the first machine that asks by a MAC address of the node. */
  async give({ mac, peer, arch, conflict }: Asking): Promise<GrantedBoot> {
    const [row] = await sql<Row[]>`select * from give_network_boot(${mac}, ${peer}, ${arch ?? null}, ${conflict})`;
    if (!row || row.answer === 'none') return { is: 'none' };
    const { answer, secret, ...boot } = row;
    if (answer !== 'given') return { is: answer, ...boot };
    return { is: answer, ...boot, secret: secret! };
  },

  /** Every port that a node may boot from, by its MAC address. */
  async machines(): Promise<BootMachine[]> {
    return sql<BootMachine[]>`
      select p.address, coalesce(n.secure_boot, false) as secure_boot
      from ports p join nodes n on n.uuid = p.node_uuid where p.pxe_enabled order by p.address`;
  },
});
