/** The place of Ironic's notifications in the feed, and the rows that they describe. */
import type { Document } from '../model/document';
import { type ProvisionState, states } from '../model/lifecycle/states';
import type { NoticedEvent, NotifiedTable } from '../model/notifications/notice';
import { type Db, numberArray, textArray, uuidArray } from './database';
import { eventsBehind, type FeedPlace } from './feed';

type Subject = { readonly seq: number; readonly table: NotifiedTable; readonly uuid: string };

/** The row of an event: as it is now, or as it was deleted, with its provision state of that time. */
export type KnownRows = (table: NotifiedTable, uuid: string, at: FeedPlace) => Document | undefined;

type Remains = Pick<Subject, 'table' | 'uuid'> & { readonly tx: string; readonly record: Document };

const rowKey = (table: string, uuid: string): string => `${table} ${uuid}`;

/** A UUID may be used again: the row of an event is the first one that ended after it. */
const endedRow = (remains: readonly Remains[], table: string, uuid: string, tx: string): Document | undefined =>
  remains.find((one) => one.uuid === uuid && one.table === table && BigInt(one.tx) >= BigInt(tx))?.record;

const inState = (row: Document, provision_state: ProvisionState): Document => {
  const { kind, target } = states[provision_state];
  return { ...row, provision_state, target_provision_state: kind === 'stable' ? null : target };
};

// Their data have the provision state before and after.
const moves = ['run.accepted', 'node.moved', 'run.succeeded', 'run.failed', 'run.aborted'] as const;

const presentRows = async (sql: Db, subjects: readonly Subject[]): Promise<Map<string, Document>> => {
  const present = new Map<string, Document>();
  for (const table of new Set(subjects.map((one) => one.table))) {
    const uuids = uuidArray(sql, new Set(subjects.filter((one) => one.table === table).map(({ uuid }) => uuid)));
    const found = await sql<{ uuid: string; record: Document }[]>`
      select uuid, to_jsonb(r) as record from ${sql(table)} r where uuid = any (${uuids})`;
    for (const { uuid, record } of found) present.set(rowKey(table, uuid), record);
  }
  return present;
};

/** By event of a node: the state that its next move left. Read after the rows, so that no move falls between. */
const statesAt = async (sql: Db, subjects: readonly Subject[]): Promise<Map<number, ProvisionState>> => {
  const seqs = subjects.filter(({ table }) => table === 'nodes').map(({ seq }) => seq);
  const found = await sql<{ seq: number; state: ProvisionState }[]>`
    select e.seq, next.state from events e cross join lateral (
      select data ->> 'from' as state from events later
      where later.node_uuid = e.node_uuid and (later.tx, later.seq) > (e.tx, e.seq)
        and later.kind = any (${textArray(sql, moves)}) and later.data ->> 'to' is not null
      order by later.tx, later.seq limit 1
    ) next where e.seq = any (${numberArray(sql, seqs)})`;
  return new Map(found.map(({ seq, state }) => [seq, state]));
};

export const notifications = (sql: Db) => ({
  /** At first the present end of the feed. Rows that are deleted from then on are kept until their notifications are sent. */
  async place(): Promise<FeedPlace> {
    const [row] = await sql<FeedPlace[]>`
      insert into notification_place (tx, seq) values (pg_current_xact_id(), 0)
      on conflict (id) do update set looked_at = now() returning tx, seq`;
    return row!;
  },

  async after(place: FeedPlace, limit: number): Promise<(NoticedEvent & FeedPlace)[]> {
    return sql<(NoticedEvent & FeedPlace)[]>`
      select e.tx, e.seq, e.at, e.kind, e.node_uuid, e.project, e.lessee, e.data, a.data ->> 'verb' as verb, a.data ->> 'target' as power
      from events e left join lateral (
        select data from events where run_id = e.run_id and kind = 'run.accepted' order by seq limit 1
      ) a on true
      where ${eventsBehind(sql, place)} order by e.tx, e.seq limit ${limit}`;
  },

  async rows(subjects: readonly Subject[]): Promise<KnownRows> {
    const present = await presentRows(sql, subjects);
    const remains = await sql<Remains[]>`
      select source as table, uuid, tx, record from notification_remains
      where uuid = any (${uuidArray(sql, new Set(subjects.map(({ uuid }) => uuid)))}) order by tx`;
    const known = await statesAt(sql, subjects);
    return (table, uuid, { tx, seq }) => {
      const row = endedRow(remains, table, uuid, tx) ?? present.get(rowKey(table, uuid));
      const state = known.get(seq);
      return row && state ? inState(row, state) : row;
    };
  },

  /** Forgets the rows whose notifications were sent. False if another process has moved the place. */
  async move({ tx, seq }: FeedPlace, to: FeedPlace): Promise<boolean> {
    const moved = await sql`
      with moved as (
        update notification_place set tx = ${to.tx}::xid8, seq = ${to.seq} where tx = ${tx}::xid8 and seq = ${seq} returning 1
      ), sent as (
        delete from notification_remains where tx < ${to.tx}::xid8 and exists (select from moved)
      )
      select from moved`;
    return moved.length === 1;
  },

  /** Age of the oldest event that is not sent; 0 if all are. */
  async behindSeconds(): Promise<number> {
    const [row] = await sql<{ seconds: number }[]>`
      select extract(epoch from now() - e.at)::float8 as seconds from notification_place p
      cross join lateral (
        select at from events e where (e.tx, e.seq) > (p.tx, p.seq) and e.tx < pg_snapshot_xmin(pg_current_snapshot()) order by e.tx, e.seq limit 1
      ) e`;
    return Math.max(0, row?.seconds ?? 0);
  },

  /** For `temper doctor`. Undefined if no such process has ever run. */
  async standing(): Promise<{ readonly silentSeconds: number } | undefined> {
    const [row] = await sql<{ silentSeconds: number }[]>`
      select extract(epoch from now() - looked_at)::float8 as "silentSeconds" from notification_place`;
    return row;
  },
});
