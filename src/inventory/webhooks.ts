/** Queries of webhooks: receivers, pending deliveries, and the log. */
import type { ProjectId } from '../model/ids';
import type { Predicate } from '../model/predicates';
import { type EventKind, webhookKinds } from '../model/resources/event-kinds';
import { type Db, type Fragment, numberArray, uuidArray } from './database';
import { eventsWithNodes, type SeenEvent, seenEventColumns } from './event-pages';
import type { FeedEvent } from './feed';
import { conditionOf } from './predicates';
import type { SealedSecret } from './secrets/vault';

export type WebhookRow = {
  readonly uuid: string;
  /** Null for a webhook of the installation, which gets the events of all nodes. */
  readonly project: ProjectId | null;
  readonly url: string;
  readonly kinds: readonly string[];
  readonly enabled: boolean;
  readonly description: string | null;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};
export type WebhookValues = Pick<WebhookRow, 'url' | 'kinds' | 'enabled' | 'description'>;

export type DeliveryRow = {
  readonly uuid: string;
  readonly event_seq: number;
  readonly kind: EventKind;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly next_at: Date | null;
  readonly created_at: Date;
  readonly finished_at: Date | null;
};

export type DueDelivery = {
  readonly id: number;
  readonly uuid: string;
  readonly attempts: number;
  readonly webhook: string;
  readonly project: ProjectId | null;
  readonly url: string;
  /** For the rights of `project`. */
  readonly seen: Pick<SeenEvent, (typeof seenColumns)[number]>;
  readonly event: Readonly<Record<string, unknown>> & {
    readonly seq: number;
    readonly kind: EventKind;
    /** ISO 8601. */
    readonly at: string;
    readonly node_uuid: string | null;
    readonly run_id: string | null;
    readonly node_name: string | null;
    readonly data: Readonly<Record<string, unknown>>;
  };
  readonly secret: {
    readonly id: string;
    readonly key_id: string;
    readonly nonce: Buffer;
    readonly ciphertext: Buffer;
  };
};

export type Attempted = {
  readonly state: DeliveryRow['state'];
  readonly status: number | null;
  readonly error: string | null;
  /** Until the next attempt. */
  readonly waitMs: number;
};

const webhookColumns = [
  'uuid',
  'project',
  'url',
  'kinds',
  'enabled',
  'description',
  'created_at',
  'updated_at',
] as const;
const logColumns = [
  'uuid', 'event_seq', 'kind', 'state', 'attempts', 'status', 'error', 'next_at', 'created_at', 'finished_at',
] as const; // biome-ignore format: one row of names

const seenColumns = [
  'now_owner', 'now_lessee', 'tenant', 'rollout_id', 'rollout_project', 'rollout_requester', 'target_owner', 'target_lessee',
] as const; // biome-ignore format: one row of names

/** @param joined events as `e`, and webhooks as `w` */
const insertDeliveries = (sql: Db, joined: Fragment) => sql`
  insert into webhook_deliveries (webhook_uuid, event_seq, kind)
  select w.uuid, e.seq, e.kind from ${joined} and w.enabled and e.at >= w.created_at
    and (e.kind = any (w.kinds) or split_part(e.kind, '.', 1) || '.*' = any (w.kinds) or '*' = any (w.kinds))
  order by e.seq on conflict do nothing`;

const configured = (sql: Db) => ({
  async list({ limit, after, visible }: { limit: number; after?: string; visible: Predicate }): Promise<WebhookRow[]> {
    const place = after ? sql`id > (select m.id from webhooks m where m.uuid = ${after})` : sql`true`;
    return sql<WebhookRow[]>`
      select ${sql(webhookColumns)} from webhooks
      where ${place} and ${conditionOf(sql, visible, 'webhooks')} order by id limit ${limit}`;
  },

  async count(project: ProjectId): Promise<number> {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from webhooks where project = ${project}`;
    return row!.count;
  },

  async find(uuid: string): Promise<WebhookRow | undefined> {
    const [row] = await sql<WebhookRow[]>`select ${sql(webhookColumns)} from webhooks where uuid = ${uuid}`;
    return row;
  },

  async create(values: WebhookValues & Pick<WebhookRow, 'project'>): Promise<WebhookRow> {
    const { project, url, kinds, enabled, description } = values;
    const [row] = await sql<WebhookRow[]>`
      insert into webhooks ${sql({ project, url, kinds: [...kinds], enabled, description })} returning ${sql(webhookColumns)}`;
    return row!;
  },

  async update(uuid: string, values: WebhookValues): Promise<WebhookRow | undefined> {
    const { url, kinds, enabled, description } = values;
    const [row] = await sql<WebhookRow[]>`
      update webhooks set ${sql({ url, kinds: [...kinds], enabled, description })}, updated_at = now()
      where uuid = ${uuid} returning ${sql(webhookColumns)}`;
    return row;
  },

  async delete(uuid: string): Promise<boolean> {
    return (await sql`delete from webhooks where uuid = ${uuid} returning 1`).length === 1;
  },

  /** Deletes and inserts, because the API's role may not read the table. Call it in a transaction. */
  async setSecret(webhook: string, { id, key_id, nonce, ciphertext }: SealedSecret): Promise<void> {
    await sql`delete from webhook_secrets where webhook_uuid = ${webhook}`;
    await sql`insert into webhook_secrets ${sql({ webhook_uuid: webhook, id, key_id, nonce, ciphertext })}`;
  },

  /** Newest first. Those of a project's webhook are there after their first attempt, for which its rights are checked. */
  async deliveries(webhook: string, { limit, after }: { limit: number; after?: string }): Promise<DeliveryRow[]> {
    return sql<DeliveryRow[]>`
      select ${sql(logColumns)} from webhook_deliveries
      where webhook_uuid = ${webhook}
        and (state <> 'pending' or error is not null or exists (select from webhooks where uuid = ${webhook} and project is null))
        and ${after ? sql`id < (select m.id from webhook_deliveries m where m.uuid = ${after} and m.webhook_uuid = ${webhook})` : sql`true`}
      order by id desc limit ${limit}`;
  },

  async hasDelivery(webhook: string, uuid: string): Promise<boolean> {
    return (
      (await sql`select 1 from webhook_deliveries where webhook_uuid = ${webhook} and uuid = ${uuid}`).length === 1
    );
  },
});

const delivering = (sql: Db) => ({
  /** Idempotent. For a project the events of its nodes and rollouts; its rights are checked before each attempt. */
  async enqueue(events: readonly FeedEvent[]): Promise<void> {
    const wanted = events.filter(({ kind }) => webhookKinds.includes(kind));
    if (wanted.length === 0) return;
    const seqs = numberArray(
      sql,
      wanted.map(({ seq }) => seq),
    );
    const rows = sql`(select * from events where seq = any (${seqs}))`;
    await insertDeliveries(sql, sql`${rows} e join webhooks w on w.project is null`);
    await insertDeliveries(
      sql,
      sql`(select ${seenEventColumns(sql)} from ${eventsWithNodes(sql, rows)}
          where exists (select from webhooks where project is not null)) e
        join webhooks w on w.project in (e.now_owner, e.now_lessee, e.rollout_project, e.target_owner, e.target_lessee)`,
    );
  },

  /**
   * Leases due deliveries for `leaseMs`, at most `each` per webhook, so that a silent receiver delays no other. Projects take turns,
   * because the backlog of one may never end. Deliveries of deleted events fail. @param except webhooks to leave out
   * @param ofProjects false leaves out those of projects
   */
  async takeDue({
    limit,
    each,
    leaseMs,
    except = [],
    ofProjects = true,
  }: {
    limit: number;
    each: number;
    leaseMs: number;
    except?: Iterable<string>;
    ofProjects?: boolean;
  }): Promise<DueDelivery[]> {
    return sql<DueDelivery[]>`
      with due as (
        select d.id, exists (select from events e where e.seq = d.event_seq) as there from (
          select uuid from webhooks
          where enabled and (${ofProjects} or project is null) and uuid <> all (${uuidArray(sql, except)})
          order by row_number() over (partition by coalesce(project, uuid::text) order by random()), random()
        ) w, lateral (
          select id, event_seq from webhook_deliveries where webhook_uuid = w.uuid and state = 'pending' and next_at <= now()
          order by next_at limit ${each} for update skip locked
        ) d limit ${limit}
      ), gone as (
        update webhook_deliveries set state = 'failed', error = 'The event was deleted by its age.', finished_at = now()
        where id in (select id from due where not there)
      ), taken as (
        update webhook_deliveries set attempts = attempts + 1, next_at = now() + ${leaseMs} * interval '1 millisecond'
        where id in (select id from due where there) returning id, uuid, attempts, webhook_uuid, event_seq
      )
      select t.id, t.uuid, t.attempts, w.uuid as webhook, w.project, w.url,
        jsonb_build_object('seq', e.seq, 'at', e.at, 'kind', e.kind, 'node_uuid', e.node_uuid, 'node_name', coalesce(n.name, r.node_name),
          'run_id', e.run_id, 'verb', r.verb, 'project', e.project, 'lessee', e.lessee, 'data', e.data) as event,
        (select to_jsonb(seen) from (select ${seenEventColumns(sql)} from ${eventsWithNodes(sql, sql`(select * from events where seq = t.event_seq)`)}) seen) as seen,
        jsonb_build_object('id', s.id, 'key_id', s.key_id, 'nonce', encode(s.nonce, 'base64'),
          'ciphertext', encode(s.ciphertext, 'base64')) as secret
      from taken t join webhooks w on w.uuid = t.webhook_uuid join events e on e.seq = t.event_seq
        join webhook_secrets s on s.webhook_uuid = w.uuid
        left join nodes n on n.uuid = e.node_uuid left join runs r on r.id = e.run_id`.then((rows) => rows.map(opened));
  },

  /** For an event that its project may no longer read. */
  async withdraw(id: number): Promise<void> {
    await sql`delete from webhook_deliveries where id = ${id}`;
  },

  /** Undefined if disabled. */
  async target(uuid: string): Promise<{ readonly url: string; readonly secret: DueDelivery['secret'] } | undefined> {
    const [row] = await sql<(DueDelivery['secret'] & { url: string })[]>`
      select w.url, s.id, s.key_id, s.nonce, s.ciphertext from webhooks w join webhook_secrets s on s.webhook_uuid = w.uuid
      where w.uuid = ${uuid} and w.enabled`;
    if (!row) return undefined;
    const { url, ...secret } = row;
    return { url, secret };
  },

  async attempted(id: number, { state, status, error, waitMs }: Attempted): Promise<void> {
    await sql`
      update webhook_deliveries set state = ${state}, status = ${status}, error = ${error},
        next_at = now() + ${waitMs} * interval '1 millisecond', finished_at = case when ${state} <> 'pending' then now() end
      where id = ${id} and state = 'pending'`;
  },

  /** Pending deliveries stay. @returns the number of rows */
  async forget(olderThanDays: number, limit = 5_000): Promise<number> {
    const since = sql`now() - ${olderThanDays} * interval '1 day'`;
    // No delivery ends before `created_at`, which has an index.
    const gone = await sql`
      delete from webhook_deliveries where id in (
        select id from webhook_deliveries where created_at < ${since} and finished_at < ${since} limit ${limit}
      ) returning 1`;
    return gone.length;
  },
});

// Bytes are base64 inside a JSON document.
const opened = (row: DueDelivery): DueDelivery => {
  const { nonce, ciphertext } = row.secret as unknown as { nonce: string; ciphertext: string };
  const bytes = { nonce: Buffer.from(nonce, 'base64'), ciphertext: Buffer.from(ciphertext, 'base64') };
  return { ...row, secret: { ...row.secret, ...bytes } };
};

export const webhooks = (sql: Db) => ({ ...configured(sql), ...delivering(sql) });
