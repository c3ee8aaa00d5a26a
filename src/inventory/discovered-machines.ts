/** Queries of machines without a node, as reported by their ramdisks. */
import type { DiscoveredClaims, DiscoveredState, discoveryLimits } from '../model/boot/discovery';
import type { Document } from '../model/document';
import { columnsOf, type Db, jsonOf } from './database';

export type DiscoveredMachine = DiscoveredClaims & {
  readonly uuid: string;
  readonly state: DiscoveredState;
  readonly sender: string;
  /** Of the claims in the last report. */
  readonly revision: string;
  readonly reports: number;
  readonly reason: string | null;
  /** Another waiting record has one of its MAC addresses. */
  readonly contested: boolean;
  readonly first_seen_at: Date;
  readonly last_seen_at: Date;
};
export type DiscoveredWhole = DiscoveredMachine & { readonly inventory: Document };

/** `key` is equal for all reports of one set of MAC addresses. */
export type DiscoveryReport = DiscoveredClaims & {
  readonly key: string;
  readonly revision: string;
  readonly sender: string;
  readonly inventory: Document;
};

export type Reported =
  | { readonly is: 'new'; readonly uuid: string }
  | { readonly is: 'known' | 'all full' | 'sender full' | 'shared' };

export type DiscoveredPage = {
  readonly state?: DiscoveredState;
  readonly limit: number;
  /** Last record of the page before. */
  readonly after?: string;
};

type Limits = typeof discoveryLimits;

const columns = (sql: Db) => sql`
  d.uuid, d.state, d.macs, d.boot_mac, d.arch, d.bmc_address, d.vendor, d.product, d.serial, d.sender, d.revision, d.reports,
  d.reason, d.first_seen_at, d.last_seen_at, exists (
    select 1 from discovered_machines o where o.macs && d.macs and o.uuid <> d.uuid and o.state = 'waiting') as contested`;

const inserted = async (sql: Db, said: DiscoveryReport): Promise<Reported> => {
  const row = { ...said, macs: [...said.macs], inventory: jsonOf(sql, said.inventory) };
  const [made] = await sql<{ uuid: string }[]>`insert into discovered_machines ${columnsOf(sql, row)} returning uuid`;
  return { is: 'new', uuid: made!.uuid };
};

/** Replaces the claims of a waiting record; a refused record only counts. */
const repeated = async (sql: Db, { key, macs: _, ...said }: DiscoveryReport): Promise<boolean> => {
  const claims = columnsOf(sql, { ...said, inventory: jsonOf(sql, said.inventory) });
  const seen = sql`reports = least(reports + 1, 1000000), last_seen_at = now()`;
  const waiting = await sql`
    update discovered_machines set ${claims}, ${seen} where key = ${key} and state = 'waiting' returning 1`;
  if (waiting.length > 0) return true;
  return (await sql`update discovered_machines set ${seen} where key = ${key} returning 1`).length > 0;
};

const boundOf = async (
  sql: Db,
  { macs, sender }: DiscoveryReport,
  { records, ofSender, sharing }: Limits,
): Promise<Exclude<Reported['is'], 'new' | 'known'> | undefined> => {
  const [count] = await sql<{ all: number; of_sender: number; shared: number }[]>`
    select (select count(*)::int from discovered_machines) as all,
      (select count(*)::int from discovered_machines where sender = ${sender}) as of_sender,
      (select count(*)::int from discovered_machines where macs && ${[...macs]}::text[]) as shared`;
  if (count!.shared >= sharing) return 'shared';
  if (count!.of_sender >= ofSender) return 'sender full';
  return count!.all >= records ? 'all full' : undefined;
};

export const discoveredMachines = (sql: Db) => ({
  /** Call it in a transaction: a lock keeps concurrent reports within the bounds. */
  async report(said: DiscoveryReport, limits: Limits): Promise<Reported> {
    if (await repeated(sql, said)) return { is: 'known' };
    await sql`select pg_advisory_xact_lock(hashtext('temper'), hashtext('discovered_machines'))`;
    if (await repeated(sql, said)) return { is: 'known' };
    const bound = await boundOf(sql, said, limits);
    return bound === undefined ? inserted(sql, said) : { is: bound };
  },

  /** Ordered by first sight. */
  async list({ state, limit, after }: DiscoveredPage): Promise<DiscoveredMachine[]> {
    return sql<DiscoveredMachine[]>`
      select ${columns(sql)} from discovered_machines d
      where ${state === undefined ? sql`true` : sql`d.state = ${state}`} ${
        after === undefined
          ? sql``
          : sql`and (d.first_seen_at, d.uuid) > (select first_seen_at, uuid from discovered_machines where uuid = ${after})`
      } order by d.first_seen_at, d.uuid limit ${limit}`;
  },

  /** @param lock locks the record until the transaction ends */
  async find(uuid: string, { lock = false } = {}): Promise<DiscoveredWhole | undefined> {
    if (lock) await sql`select 1 from discovered_machines where uuid = ${uuid} for update`;
    const [row] = await sql<DiscoveredWhole[]>`
      select ${columns(sql)}, d.inventory from discovered_machines d where d.uuid = ${uuid}`;
    return row;
  },

  /** Prevents enrolment, and new records of the same machine. */
  async refuse(uuid: string, reason: string): Promise<boolean> {
    const rows = await sql`
      update discovered_machines set state = 'refused', reason = ${reason} where uuid = ${uuid} returning 1`;
    return rows.length === 1;
  },

  async delete(uuid: string): Promise<boolean> {
    return (await sql`delete from discovered_machines where uuid = ${uuid} returning 1`).length === 1;
  },
});
