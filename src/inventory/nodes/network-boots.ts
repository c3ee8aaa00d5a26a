/** Network boots by MAC address, and the machines that DHCP answers. */
import type { NodeUuid, RunUuid } from '../../model/ids';
import type { Db } from '../database';

export type Asking = {
  /** Lower case, with colons. */
  readonly mac: string;
  /** Source address of the request. */
  readonly peer: string;
  /** Architecture, as in ramdisk records. */
  readonly arch?: string;
  /** Recorded if a second machine requests the same boot. */
  readonly conflict: string;
};

type Boot = { readonly node_uuid: NodeUuid; readonly run_id: RunUuid; readonly arch: string };

/**
 * `early`: the run has not powered on the node yet. `again`: this address got the secret before. `contested`: another address got it, and
 * the run fails now. `taken`: that is recorded already.
 */
export type GrantedBoot =
  | { readonly is: 'none' }
  | ({ readonly is: 'early' | 'architecture' | 'again' | 'contested' | 'taken' } & Boot)
  | ({ readonly is: 'given'; readonly secret: string } & Boot);

export type BootMachine = { readonly address: string; readonly secure_boot: boolean };

type Row = Boot & { readonly answer: GrantedBoot['is']; readonly secret: string | null };

export const networkBoots = (sql: Db) => ({
  /** Gives the secret of a boot URL to the first machine with a MAC address of the node. */
  async give({ mac, peer, arch, conflict }: Asking): Promise<GrantedBoot> {
    const [row] = await sql<Row[]>`select * from give_network_boot(${mac}, ${peer}, ${arch ?? null}, ${conflict})`;
    if (!row || row.answer === 'none') return { is: 'none' };
    const { answer, secret, ...boot } = row;
    if (answer !== 'given') return { is: answer, ...boot };
    return { is: answer, ...boot, secret: secret! };
  },

  async machines(): Promise<BootMachine[]> {
    return sql<BootMachine[]>`
      select p.address, coalesce(n.secure_boot, false) as secure_boot
      from ports p join nodes n on n.uuid = p.node_uuid where p.pxe_enabled order by p.address`;
  },
});
