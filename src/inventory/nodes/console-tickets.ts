/** Queries of tickets for serial consoles. A BMC worker redeems each once. */
import type { NodeUuid } from '../../model/ids';
import type { Requester } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';
import { activeFreeze } from './freezes';
import type { NodeRow } from './nodes';

/** `unknown` also for a used or expired ticket, or a node that has changed hands. */
export type Redeemed =
  | { readonly is: 'open'; readonly id: string; readonly node_uuid: NodeUuid; readonly requester: Requester }
  | { readonly is: 'busy' }
  | { readonly is: 'unknown' };

type Made = {
  readonly ticket_hash: string;
  readonly node: Pick<NodeRow, 'uuid' | 'owner' | 'lessee' | 'lease_id'>;
  readonly requester: Requester;
  /** Milliseconds from now, by PostgreSQL's clock. */
  readonly useMs: number;
  readonly lastsMs: number;
};

const uniqueViolation = '23505';

/** Must hold as long as a console is read, for ticket `t` and node `n`. */
const stillHolds = (sql: Db) => sql`
  n.uuid = t.node_uuid and n.console_enabled and t.ends_at > now()
  and n.owner is not distinct from t.owner and n.lessee is not distinct from t.lessee
  and n.lease_id is not distinct from t.lease_id
  and not exists (select 1 from freezes where freezes.node_uuid = n.uuid and ${activeFreeze(sql)})`;

export const consoleTickets = (sql: Db) => ({
  /** Also deletes the node's tickets that are neither usable nor in use. */
  async make({ ticket_hash, node, requester, useMs, lastsMs }: Made): Promise<void> {
    await sql`
      delete from console_tickets where node_uuid = ${node.uuid}
        and (closed_at is not null or ends_at < now() or (used_at is null and use_before < now()))`;
    await sql`
      insert into console_tickets (ticket_hash, node_uuid, owner, lessee, lease_id, requester, use_before, ends_at)
      values (${ticket_hash}, ${node.uuid}, ${node.owner}, ${node.lessee}, ${node.lease_id}, ${jsonOf(sql, requester)},
        now() + ${useMs} * interval '1 millisecond', now() + ${lastsMs} * interval '1 millisecond')`;
  },

  /**
   * Uses a ticket up, if the console is free and the conductor group matches.
   * @param silentMs frees the console of a worker that was silent for longer
   */
  async redeem(ticket_hash: string, conductor_group: string, silentMs: number): Promise<Redeemed> {
    await sql`
      update console_tickets set closed_at = now()
      where node_uuid = (select node_uuid from console_tickets where ticket_hash = ${ticket_hash})
        and used_at is not null and closed_at is null and seen_at < now() - ${silentMs} * interval '1 millisecond'`;
    try {
      const [row] = await sql<{ id: string; node_uuid: NodeUuid; requester: Requester }[]>`
        update console_tickets t set used_at = now(), seen_at = now() from nodes n
        where t.ticket_hash = ${ticket_hash} and t.used_at is null and t.use_before > now() and ${stillHolds(sql)}
          and n.conductor_group = ${conductor_group}
        returning t.id, t.node_uuid, t.requester`;
      return row ? { is: 'open', ...row } : { is: 'unknown' };
    } catch (thrown) {
      if ((thrown as { code?: string }).code === uniqueViolation) return { is: 'busy' };
      throw thrown;
    }
  },

  /** Renews the use of the console. False if it is no longer allowed. */
  async holds(id: string): Promise<boolean> {
    const { count } = await sql`
      update console_tickets t set seen_at = now() from nodes n where t.id = ${id} and t.closed_at is null and ${stillHolds(sql)}`;
    return count === 1;
  },

  async close(id: string): Promise<void> {
    await sql`update console_tickets set closed_at = now() where id = ${id} and closed_at is null`;
  },
});
