/** Writes of acts, always under the fence. */
import type { NodeUuid } from '../../model/ids';
import { stepFields } from '../../model/lifecycle/states';
import type { PlannedStep } from '../../model/lifecycle/step-types';
import { type ActName, actRow } from '../../model/lifecycle/steps';
import type { EventKind } from '../../model/resources/event-kinds';
import type { ActOutcome, Lock } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';
import { type ActLock, type Attempt, beginnable, heldBy, readableBy, type SqlPart } from '../fence';
import { activeFreeze } from '../nodes/freezes';
import { recoveries } from './recovery';

/** Only the BMC workers' role reads it. */
export type ActedNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly driver: string;
  readonly driver_info: Record<string, unknown>;
  readonly properties: Record<string, unknown>;
  readonly power_state: string | null;
  readonly boot_mode: string | null;
  readonly secure_boot: boolean | null;
  readonly boot_interface: string | null;
  readonly instance_info: Record<string, unknown>;
  readonly target_raid_config: Record<string, unknown> | null;
  /** The command may have left after the backup that was restored. For `once` acts. */
  readonly doubted: boolean;
  /** No other step of the run has this name. For `once` acts. */
  readonly unrepeated: boolean;
  readonly ports: { readonly address: string; readonly pxe_enabled: boolean }[];
  /** Null if no ramdisk has called back. `token` refers to its secret. */
  readonly agent: { url: string; token: unknown; version: string | null; verify_ca: string | null } | null;
};

/**
 * `held_back`: the node is frozen, or a recovery is in force. `ended`: the outcome of an act that must not run again. That is a `once`
 * act whose answer was lost, or an act of an older execution than recorded, from a restored Temporal database.
 */
export type Begun = {
  readonly held_back: boolean;
  readonly ended?: ActOutcome;
  /** Undefined if the act did not begin. */
  readonly node?: ActedNode;
};

export type ActKey = { readonly index: number; readonly act: string } & Attempt;

/** `nth` numbers the act within its execution; `force` ends it even if its command has left. */
export type CutAct = { readonly index: number; readonly act: string; readonly nth: number; readonly force: boolean };
/** `cut`: it can send nothing more. `sent`: ISO time at which its command left. */
export type Cut = { readonly cut: boolean; readonly sent: string | null };

/** Sets only the field that matches the node's state. */
export const showStep = (sql: Db, step: SqlPart): SqlPart[] =>
  Object.entries(stepFields).flatMap(([field, states], nth) => [
    nth === 0 ? sql`` : sql`, `,
    sql`${sql(field)} = case when provision_state in ${sql([...states])} then ${step} else ${sql(field)} end`,
  ]);

type Standing = { readonly held_back: boolean; readonly outcome: (ActOutcome & { readonly nth: number }) | null };

/** Reads without locks. */
const standing = (sql: Db, lock: ActLock, key: ActKey, once: boolean): SqlPart => sql`
    r as (${readableBy(sql, lock)}), standing as (
      select (select s.outcomes->${key.act} from r, run_steps s
        where s.run_id = ${lock.run} and s.index = ${key.index} and s.outcomes ? ${key.act}
          and case when r.workflow_run_id = ${key.execution}
            then (s.outcomes->${key.act}->>'nth')::int = ${key.nth} and (${once} or r.act_nth > ${key.nth})
            else ${once} end) as outcome,
        exists (select 1 from freezes where node_uuid = ${lock.node_uuid} and ${activeFreeze(sql)}) or exists (${recoveries(sql)}) as held_back
    )`;

export const stepActs = (sql: Db) => ({
  /**
   * Begins the act unless it has ended, is held back, has lost the lock, or a later attempt has begun. A read is not held back. This attempt
   * then writes under the lock's token.
   */
  async begin(lock: ActLock, key: ActKey, step: PlannedStep): Promise<Begun> {
    const shown = step.system
      ? null
      : jsonOf(sql, {
          interface: step.interface,
          step: step.step,
          args: step.args,
          abortable: step.abortable,
        });
    const { by, effect } = actRow(key.act as ActName);
    const [agents, once, reads] = [by === 'agent', effect === 'once', effect === 'read'];
    const may: SqlPart = sql`exists (select from standing where outcome is null and (${reads} or not held_back))`;
    const [row] = await sql<(ActedNode & Standing)[]>`
    with ${standing(sql, lock, key, once)}, fence as (${beginnable(sql, lock, key, may)}
    ), held as (
      update nodes set
          ${showStep(sql, sql`${shown}::jsonb`)}
      from fence where nodes.uuid = fence.uuid
      returning nodes.*
    ), begun as (
      update run_steps set state = 'running', act = ${key.act}, attempt = ${key.attempt}, attempts = case when attempts = 0 or ${key.attempt} > 1 then attempts + 1 else attempts end,
        started_at = coalesce(started_at, now()), finished_at = null
      where run_id = ${lock.run} and index = ${key.index} and exists (select 1 from held)
    ), moved as (
      update runs set cursor = ${key.index}, updated_at = now(), workflow_run_id = ${key.execution}, act_token = ${lock.token},
        act_id = ${key.activity}, act_nth = ${key.nth}, act_attempt = ${key.attempt}, act_at = to_timestamp(${key.asked_at} / 1000.0)
      where id = ${lock.run} and exists (select 1 from held)
    ), told as (
      insert into events (kind, node_uuid, run_id, project, lessee, data)
      select ${'step.begun' satisfies EventKind}, uuid, ${lock.run}, owner, lessee,
        jsonb_build_object('index', ${key.index}::int, 'step', ${`${step.interface}.${step.step}`}::text, 'act', ${key.act}::text, 'attempt', ${key.attempt}::int)
      from held
    )
    select held_back, outcome, uuid, name, driver, driver_info, properties, power_state, boot_mode, secure_boot, boot_interface, instance_info,
      target_raid_config,
      ${once} and (coalesce((select input->'doubted' ? ${`${key.execution}/${key.activity}`} from runs where id = ${lock.run}), false)
        or exists (select 1 from intents where run_id = ${lock.run} and index = ${key.index} and act = ${key.act} and detail ? 'doubted')) as doubted,
      ${once} and not exists (select 1 from run_steps other where other.run_id = ${lock.run} and other.index <> ${key.index}
        and other.interface = ${step.interface} and other.step = ${step.step}) as unrepeated,
      case when ${agents} then (select coalesce(jsonb_agg(jsonb_build_object('address', p.address, 'pxe_enabled', p.pxe_enabled)), '[]')
        from ports p where p.node_uuid = held.uuid) else '[]' end as ports,
      case when ${agents} then (select jsonb_build_object('url', a.url, 'version', a.version, 'verify_ca', a.verify_ca,
          'token', jsonb_build_object('$secret', a.token_secret))
        from agents a where a.node_uuid = held.uuid and a.url is not null) end as agent
    from standing left join held on true`;
    const { held_back, outcome, ...node } = row!;
    if (node.uuid !== null) return { held_back, node };
    if (!outcome) return { held_back };
    const { nth: _, ...ended } = outcome;
    return { held_back, ended };
  },

  /** Temporal decides about the next attempt. */
  async tried(
    lock: ActLock,
    key: ActKey,
    { error, code, again }: { readonly error: string; readonly code: string; readonly again: boolean },
  ): Promise<void> {
    const kinds: readonly EventKind[] = again && key.attempt === 1 ? ['step.tried', 'run.retrying'] : ['step.tried'];
    await sql`
    with held as (${heldBy(sql, lock)}
    ), told as (
      update run_steps set last_error = ${error}, last_code = ${code}
      where run_id = ${lock.run} and index = ${key.index} and exists (select 1 from held) returning interface, step
    )
    insert into events (kind, node_uuid, run_id, project, lessee, data)
    select kind, n.uuid, ${lock.run}, n.owner, n.lessee,
      jsonb_build_object('index', ${key.index}::int, 'step', told.interface || '.' || told.step, 'act', ${key.act}::text,
        'attempt', ${key.attempt}::int, 'code', ${code}::text, 'error', ${error}::text)
    from told, held n, unnest(${kinds}::text[]) with ordinality as k (kind, nth) order by nth`;
  },

  /** False if the lock is lost or a later attempt has begun. */
  async end(lock: ActLock, key: ActKey, outcome: ActOutcome, stepDone: boolean): Promise<boolean> {
    const seen = outcome.seen ?? {};
    const has = (name: keyof typeof seen): boolean => seen[name] !== undefined;
    const { is, note, rest, follows, reported } = outcome;
    const answered = {
      is,
      nth: key.nth,
      ...(note && { note }),
      ...(rest && { rest }),
      ...(follows && { follows }),
      ...(reported && { reported }),
    };
    const ended = await sql`
    with fence as (${heldBy(sql, lock, ['uuid', 'power_state'])}
    ), held as (
      update nodes set
        power_state = case when ${has('power_state')} then ${seen.power_state ?? null} else nodes.power_state end,
        boot_mode = case when ${has('boot_mode')} then ${seen.boot_mode ?? null} else boot_mode end,
        secure_boot = case when ${has('secure_boot')} then ${seen.secure_boot ?? null}::boolean else secure_boot end,
        health = case when ${has('health')} then ${seen.health ?? null} else health end,
        properties = case when ${has('vendor')} then properties || jsonb_build_object('vendor', ${seen.vendor ?? null}::text) else properties end,
        updated_at = now()
      from fence where nodes.uuid = fence.uuid
      returning nodes.uuid, nodes.owner, nodes.lessee, nodes.power_state, fence.power_state as power_before
    ), before as (
      select ${key.act} = any (acts_ended) as told from run_steps where run_id = ${lock.run} and index = ${key.index}
    ), ended as (
      update run_steps set
        acts_done = acts_done + case when ${key.act} = any (acts_ended) then 0 else 1 end,
        acts_ended = case when ${key.act} = any (acts_ended) then acts_ended else acts_ended || ${key.act}::text end,
        outcomes = outcomes || jsonb_build_object(${key.act}::text, ${jsonOf(sql, answered)}::jsonb), note = coalesce(${outcome.note ?? null}, note),
        answer = coalesce(${outcome.value === undefined ? null : jsonOf(sql, outcome.value)}, answer),
        state = case when ${stepDone} then 'done' else state end, finished_at = case when ${stepDone} then now() end,
        last_error = null, last_code = null
      where run_id = ${lock.run} and index = ${key.index} and exists (select 1 from held)
      returning interface, step, attempts
    ), moved as (
      update runs set updated_at = now(), cursor = case when ${stepDone} then ${key.index + 1} else cursor end
      where id = ${lock.run} and exists (select 1 from held)
    ), told as (
    insert into events (kind, node_uuid, run_id, project, lessee, data)
    select ${(stepDone ? 'step.done' : 'act.done') satisfies EventKind}, held.uuid, ${lock.run}, held.owner, held.lessee,
      jsonb_build_object('index', ${key.index}::int, 'step', ended.interface || '.' || ended.step, 'act', ${key.act}::text,
        'attempts', ended.attempts, 'note', ${outcome.note ?? null}::text)
        || case when held.power_state is distinct from held.power_before then jsonb_build_object('power_state', held.power_state) else '{}' end
    from held, ended, before
    where not before.told -- an attempt whose answer was lost has told it
      or held.power_state is distinct from held.power_before
    )
    select 1 from ended`;
    return ended.length === 1;
  },

  /**
   * Bars an act whose command has not left, or any with `force`: no attempt of it can write any more. Call it in a transaction. An intent
   * without jobs is no command.
   */
  async cut(lock: Lock, { index, act, nth, force }: CutAct): Promise<Cut> {
    const [held] = await heldBy(sql, lock);
    const [intent] = await sql<{ sent_at: Date }[]>`
    select sent_at from intents where run_id = ${lock.run} and index = ${index} and act = ${act}
      and detail->>'withdrawn' is distinct from 'true'
      and not (detail ? 'jobs' and detail->'jobs' = '{}' and coalesce(detail->'restarts', '{}') = '{}')`;
    const cut = force || intent === undefined;
    // If another run has the node, the fence already stops attempts. A command that has left is awaited anyway.
    if (cut && held)
      await sql`update runs set act_token = null, act_cut = greatest(act_cut, ${nth}), updated_at = now() where id = ${lock.run}`;
    return { cut, sent: intent?.sent_at.toISOString() ?? null };
  },
});
