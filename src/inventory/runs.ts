/** Queries of runs: acceptance, projections under the fence, and what API and relay read. */
import { randomUUID } from 'node:crypto';
import type { LeaseUuid, NodeUuid, ProjectId, RunUuid } from '../model/ids';
import type { Fault, ProvisionState } from '../model/lifecycle/states';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { Lock, Requester, RunEnding, RunInput, RunState, WaitsOn } from '../model/runs/runs';
import type { Db } from './database';
import { type Fenced, heldBy } from './fence';

export type RunRow = {
  readonly id: RunUuid;
  readonly node_uuid: NodeUuid;
  readonly node_name: string | null;
  readonly fence: number;
  readonly story: string;
  readonly verb: string;
  readonly state: RunState;
  readonly runbook_uuid: string | null;
  readonly runbook_name: string | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
  readonly lease_id: LeaseUuid | null;
  readonly requester: Requester;
  readonly rule_set: string;
  readonly batch: string | null;
  readonly workflow_id: string;
  readonly workflow_run_id: string | null;
  readonly provision_state_before: string | null;
  readonly target: string | null;
  readonly resumes: string | null;
  readonly cursor: number;
  readonly waiting_for: string | null;
  readonly last_error: string | null;
  /** Who asked for the run's end, and when; null where no caller has. */
  readonly abort_by: string | null;
  readonly abort_at: Date | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly updated_at: Date;
};

/** A node as the projections need it. */
export type HeldNode = {
  readonly uuid: NodeUuid;
  readonly provision_state: ProvisionState;
  readonly target_provision_state: ProvisionState | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
  readonly maintenance: boolean;
};

export type Acceptance = {
  readonly run: RunUuid;
  readonly node_uuid: NodeUuid;
  /** What the handler saw; acceptance fails when it has changed. */
  readonly from: ProvisionState;
  readonly revision: string | null;
  /** Null leaves the provision state alone. */
  readonly to: ProvisionState | null;
  readonly target: ProvisionState | null;
  readonly target_power_state: string | null;
  readonly story: string;
  readonly verb: string;
  readonly runbook: { readonly uuid: string; readonly name: string } | null;
  readonly requester: Requester;
  readonly rule_set: string;
  readonly workflow_id: string;
  /** The workflow's input but for the fence, which only this statement knows. */
  readonly input: Omit<RunInput, 'lock'>;
  /** The run that is taken over from; null takes only a free node. */
  readonly displaces?: RunUuid | null;
  /** Replaces the node's document, where the run brings something of its own. */
  readonly instance_info?: Readonly<Record<string, unknown>> | null;
  /** Becomes the lessee of a node that has none. */
  readonly lessee?: ProjectId | null;
  readonly limit_class?: string | null;
  readonly resumes?: { readonly run: RunUuid; readonly from: number } | null;
};

const columns = [
  'id', 'node_uuid', 'node_name', 'fence', 'story', 'verb', 'state', 'runbook_uuid', 'runbook_name', 'owner', 'lessee', 'lease_id',
  'requester', 'rule_set', 'batch', 'workflow_id', 'workflow_run_id', 'provision_state_before', 'target', 'resumes', 'cursor', 'waiting_for',
  'last_error', 'abort_by', 'abort_at', 'created_at', 'started_at', 'finished_at', 'updated_at',
] as const; // biome-ignore format: one row of names

// Named only where it is given: the BMC workers' role, which accepts runs of power sync, may not write lessees.
const becomesLessee = (sql: Db, lessee: string | null | undefined) =>
  lessee == null
    ? sql``
    : sql`
  driver_internal_info = case when lessee is null
    then driver_internal_info || '{"automatic_lessee": true}' else driver_internal_info end,
  lessee = coalesce(lessee, ${lessee}),`;

// What belongs to the instance goes with it; a lessee only if the deployment brought it.
const withoutInstance = (sql: Db) => sql`
  instance_info = '{}', instance_uuid = null, instance_name = null, allocation_uuid = null,
  lessee = case when driver_internal_info ? 'automatic_lessee' then null else lessee end,
  driver_internal_info = driver_internal_info - '{automatic_lessee,instance,root_uuid_or_disk_id,is_whole_disk_image,is_source_a_path,deploy_boot_mode}'::text[]`;

export const runs = (sql: Db) => ({
  newId: (): RunUuid => randomUUID() as RunUuid,

  /**
   * Lock, fence, state and run row in one statement; undefined when the node is held, gone, or no longer in `from`.
   * The caller adds steps, secrets and audit in the same transaction.
   */
  async accept(
    order: Acceptance,
  ): Promise<{ lock: Lock; owner: ProjectId | null; lessee: ProjectId | null } | undefined> {
    const [row] = await sql<{ fence: number; owner: ProjectId | null; lessee: ProjectId | null }[]>`
      with taken as (
        update nodes set
          reservation = ${order.run}, fence = fence + 1, updated_at = now(), last_error = null,
          instance_info = ${!order.instance_info ? sql`instance_info` : sql.json(order.instance_info as never)},
          ${becomesLessee(sql, order.lessee)}
          inspection_started_at = case when ${order.to}::text = 'inspecting' then now() else inspection_started_at end,
          inspection_finished_at = case when ${order.to}::text = 'inspecting' then null else inspection_finished_at end,
          target_power_state = coalesce(${order.target_power_state}, target_power_state),
          provision_state = coalesce(${order.to}, provision_state),
          target_provision_state = case when ${order.to}::text is null then target_provision_state else ${order.target} end,
          provision_updated_at = case when ${order.to}::text is null then provision_updated_at else now() end
        where uuid = ${order.node_uuid} and reservation is not distinct from ${order.displaces ?? null}::uuid and provision_state = ${order.from}
          and (${order.revision}::text is null or xmin::text = ${order.revision})
        returning uuid, name, fence, owner, lessee, lease_id
      )
      insert into runs (id, node_uuid, node_name, fence, story, verb, runbook_uuid, runbook_name, input, owner, lessee, lease_id,
        requester, rule_set, workflow_id, provision_state_before, target, limit_class, resumes, resume_from)
      select ${order.run}, uuid, name, fence, ${order.story}, ${order.verb}, ${order.runbook?.uuid ?? null}, ${order.runbook?.name ?? null},
        ${sql.json(order.input as never)}::jsonb || jsonb_build_object('lock', jsonb_build_object('run', ${order.run}::text, 'node_uuid', uuid::text, 'fence', fence)),
        owner, lessee, lease_id, ${sql.json(order.requester as never)}, ${order.rule_set}, ${order.workflow_id}, ${order.from}, ${order.target},
        ${order.limit_class ?? null}, ${order.resumes?.run ?? null}, ${order.resumes?.from ?? null}
      from taken
      returning fence, owner, lessee`;
    if (!row) return undefined;
    return {
      lock: { run: order.run, node_uuid: order.node_uuid, fence: row.fence },
      owner: row.owner,
      lessee: row.lessee,
    };
  },

  /**
   * Takes further nodes for a run that has its own already. @returns their fences by uuid; undefined where one of them is held
   * or gone: the caller's transaction must not be committed then.
   */
  async acceptAlso(run: RunUuid, nodes: readonly NodeUuid[]): Promise<Record<string, number> | undefined> {
    const taken = await sql<{ uuid: NodeUuid; fence: number }[]>`
      update nodes set reservation = ${run}, fence = fence + 1, updated_at = now()
      where uuid in (select uuid from nodes where uuid in ${sql([...nodes])} order by uuid for update) and reservation is null
      returning uuid, fence`;
    if (taken.length !== nodes.length) return undefined;
    const also = Object.fromEntries(taken.map(({ uuid, fence }) => [uuid, fence]));
    await sql`update runs set input = input || jsonb_build_object('also', ${sql.json(also)}::jsonb) where id = ${run}`;
    return also;
  },

  /** The run that was taken over from: its workflow is signalled to end, and finds no row any more. */
  async displaced(run: RunUuid, error: string): Promise<void> {
    await sql`
      update runs set state = 'aborted', last_error = ${error}, waiting_for = null, awaits = null, finished_at = now(), updated_at = now()
      where id = ${run} and finished_at is null`;
    await sql`update nodes set reservation = null where reservation = ${run}`;
  },

  /** A move straight to a resting state; false when the node is held or no longer in `from`. */
  async moveAtOnce(node: NodeUuid, from: ProvisionState, to: ProvisionState): Promise<boolean> {
    const moved = await sql`
      update nodes set provision_state = ${to}, target_provision_state = null, provision_updated_at = now(), updated_at = now(), last_error = null
      where uuid = ${node} and reservation is null and provision_state = ${from} returning 1`;
    return moved.length === 1;
  },

  /**
   * Takes a node out of the maintenance that a failed run left it in, once what failed is over. Maintenance that an operator
   * set stays: its reason is no run's error. @returns whether there was any
   */
  async leaveFault(node: NodeUuid, fault: Fault): Promise<boolean> {
    const left = await sql`
      update nodes set fault = null, maintenance = false, maintenance_reason = null, updated_at = now()
      where uuid = ${node} and fault = ${fault} and maintenance
        and exists (select 1 from runs r where r.node_uuid = nodes.uuid and r.last_error = nodes.maintenance_reason)
      returning 1`;
    return left.length === 1;
  },

  /** One run, or undefined. */
  async find(id: RunUuid): Promise<RunRow | undefined> {
    const [row] = await sql<RunRow[]>`select ${sql(columns)} from runs where id = ${id}`;
    return row;
  },

  /** What the workflow of a run is started with. */
  async input(id: RunUuid): Promise<RunInput | undefined> {
    const [row] = await sql<{ input: RunInput }[]>`select input from runs where id = ${id}`;
    return row?.input;
  },

  /**
   * Runs of a node, newest first; with `lease`, only those accepted under it; with `after`, those that follow that run.
   * Its time is read by the store itself: a Date would lose the microseconds.
   */
  async ofNode(
    node: NodeUuid,
    { limit = 100, lease, after }: { limit?: number; lease?: LeaseUuid; after?: RunUuid } = {},
  ): Promise<RunRow[]> {
    const place = sql`(select m.created_at from runs m where m.id = ${after ?? null})`;
    return sql<RunRow[]>`
      select ${sql(columns)} from runs where node_uuid = ${node}
        ${lease ? sql`and lease_id = ${lease}` : sql``} 
        ${after ? sql`and created_at <= ${place} and (created_at < ${place} or (created_at = ${place} and id > ${after}))` : sql``}
      order by created_at desc, id limit ${limit}`;
  },

  /** Where a node stands, for an explanation or an event; undefined when it is gone. */
  async stateOf(node: NodeUuid): Promise<
    | {
        provision_state: ProvisionState;
        reservation: RunUuid | null;
        owner: ProjectId | null;
        lessee: ProjectId | null;
      }
    | undefined
  > {
    const [row] = await sql<
      {
        provision_state: ProvisionState;
        reservation: RunUuid | null;
        owner: ProjectId | null;
        lessee: ProjectId | null;
      }[]
    >`
      select provision_state, reservation, owner, lessee from nodes where uuid = ${node}`;
    return row;
  },

  /** Whose a node is now, for who may see its runs; undefined when it is gone. */
  async standingOf(
    node: NodeUuid,
  ): Promise<{ owner: ProjectId | null; lessee: ProjectId | null; lease_id: LeaseUuid | null } | undefined> {
    const [row] = await sql<{ owner: ProjectId | null; lessee: ProjectId | null; lease_id: LeaseUuid | null }[]>`
      select owner, lessee, lease_id from nodes where uuid = ${node}`;
    return row;
  },

  /** Whether the newest run of a node, if there was one, was accepted under another lease than this. */
  async lastIsForeign(node: NodeUuid, lease: LeaseUuid | null): Promise<boolean> {
    const [last] = await sql<{ lease_id: LeaseUuid | null }[]>`
      select lease_id from runs where node_uuid = ${node} order by created_at desc limit 1`;
    return last !== undefined && last.lease_id !== lease;
  },

  /** The run that holds a node now. */
  async holding(node: NodeUuid): Promise<RunRow | undefined> {
    const [row] = await sql<RunRow[]>`
      select ${sql(columns.map((name) => `runs.${name}`))} from runs join nodes on nodes.reservation = runs.id where nodes.uuid = ${node}`;
    return row;
  },

  /** Compare-and-set accepted -> running. True also for a repeat; false for a run that is unknown, fenced off or ended. */
  async claim(lock: Lock, workflowRun: string, previous?: string): Promise<boolean> {
    const claimed = await sql`
      with held as (${heldBy(sql, lock)})
      update runs set state = 'running', waiting_for = case when state = 'accepted' then null else waiting_for end,
        workflow_run_id = ${workflowRun}, restart_at = null, started_at = coalesce(started_at, now()), updated_at = now(),
        act_nth = case when workflow_run_id = ${workflowRun} then act_nth else 0 end, -- another execution counts its acts anew
        act_cut = case when workflow_run_id = ${workflowRun} then act_cut else 0 end,
        act_id = case when workflow_run_id = ${workflowRun} then act_id end
      where id = ${lock.run}
        and (state = 'accepted' or restart_at is not null or (finished_at is null and workflow_run_id in (${workflowRun}, ${previous ?? workflowRun})))
        and exists (select 1 from held)
      returning 1`;
    return claimed.length === 1;
  },

  /** The node, if this lock still holds it; locked for the rest of the transaction. */
  async held(lock: Fenced): Promise<HeldNode | undefined> {
    const columns = ['uuid', 'provision_state', 'target_provision_state', 'owner', 'lessee', 'maintenance'];
    const [node] = await sql<HeldNode[]>`${heldBy(sql, lock, columns)}`;
    return node;
  },

  /** Whether a projection with this counter has been made already. */
  async advance(
    lock: Lock,
    seq: number,
    state: RunState,
    waiting_for: string | null,
    waits_on: WaitsOn | null = null,
  ): Promise<boolean> {
    const held = ['uuid', 'owner', 'lessee'];
    const advanced = await sql`
      with held as (${heldBy(sql, lock, held)}
      ), before as (
        select state from runs where id = ${lock.run}
      ), advanced as (
        update runs set seq = ${seq}, state = ${state}, waiting_for = ${waiting_for}, waits_on = ${waits_on}, updated_at = now()
        where id = ${lock.run} and seq < ${seq} and exists (select 1 from held) returning cursor
      ), said as (
        insert into events (kind, node_uuid, run_id, project, lessee, data)
        select 'run.' || ${state}::text, held.uuid, ${lock.run}, held.owner, held.lessee,
          jsonb_build_object('from', before.state, 'index', advanced.cursor, 'waiting_for', ${waiting_for}::text)
        from held, before, advanced where before.state <> ${state} and ${state} in ('waiting', 'parked', 'paused')
      )
      select 1 from advanced`;
    return advanced.length === 1;
  },

  /** Takes note of a projection that changes nothing of the run itself; false where it was made already. */
  async counted(lock: Lock, seq: number): Promise<boolean> {
    const counted = await sql`
      with held as (${heldBy(sql, lock)})
      update runs set seq = ${seq}, updated_at = now()
      where id = ${lock.run} and seq < ${seq} and exists (select 1 from held) returning 1`;
    return counted.length === 1;
  },

  /** Writes a node's state under the lock. */
  async moveNode(lock: Lock, to: ProvisionState, forgets: 'instance' | null = null): Promise<void> {
    await sql`
      with held as (${heldBy(sql, lock)})
      update nodes set provision_state = ${to}, provision_updated_at = now(), updated_at = now()
        ${forgets === 'instance' ? sql`, ${withoutInstance(sql)}` : sql``}
      where uuid in (select uuid from held)`;
  },

  /** Ends a run and frees its node in one statement; false when that was done before. */
  async finish(
    lock: Lock,
    end: {
      state: RunState;
      to: ProvisionState | null;
      target: ProvisionState | null;
      error: string | null;
      fault: Fault | null;
      cursor: number;
      forgetPower: boolean;
      forgetInstance: boolean;
    },
  ): Promise<boolean> {
    const ended = await sql`
      with held as (${heldBy(sql, lock)}
      ), ended as (
        update runs set state = ${end.state}, last_error = ${end.error}, cursor = ${end.cursor}, waiting_for = null, awaits = null,
          finished_at = now(), updated_at = now(), started_at = coalesce(started_at, now())
        where id = ${lock.run} and exists (select 1 from held)
        returning id
      ), freed as (
        update nodes set
          reservation = null, target_power_state = null, clean_step = null, service_step = null, deploy_step = null, updated_at = now(),
          ${end.forgetInstance ? sql`${withoutInstance(sql)},` : sql``}
          inspection_finished_at = case when ${end.to}::text = 'manageable' and provision_state in ('inspecting', 'inspect wait')
            then now() else inspection_finished_at end,
          provision_state = coalesce(${end.to}, provision_state),
          target_provision_state = case when ${end.to}::text is null then target_provision_state else ${end.target} end,
          provision_updated_at = case when ${end.to}::text is null then provision_updated_at else now() end,
          power_state = case when ${end.forgetPower} then null else power_state end,
          last_error = ${end.error},
          fault = case when fault = 'ramdisk conflict' then fault else coalesce(${end.fault}, fault) end,
          maintenance = maintenance or ${end.fault !== null},
          maintenance_reason = case when ${end.fault !== null} and maintenance_reason is null then ${end.error} else maintenance_reason end
        where uuid in (select uuid from held) and exists (select 1 from ended)
      ), freed_also as (
        update nodes set reservation = null, updated_at = now()
        where reservation = ${lock.run} and uuid <> ${lock.node_uuid} and exists (select 1 from ended)
      )
      select 1 from ended`;
    return ended.length === 1;
  },

  /** The conductor groups whose workers act in a run: its node's at acceptance, and those of other nodes of its steps. */
  async groupsOf(run: RunUuid): Promise<string[]> {
    const [row] = await sql<{ groups: string[] }[]>`
      select array(select distinct jsonb_array_elements_text(
        jsonb_path_query_array(input, '$.conductor_group') || jsonb_path_query_array(input, '$.steps[*].on.conductor_group'))) as groups
      from runs where id = ${run}`;
    return row?.groups ?? [];
  },

  /**
   * Accepted runs that have not been started for a while, oldest first. Those that the engine has refused come again after twice
   * the pause each time, up to 24 times `olderThanMs`.
   */
  async unstarted(olderThanMs: number, limit = 50): Promise<{ id: RunUuid; workflow_id: string }[]> {
    return sql`
      select id, workflow_id from runs
      where (restart_at is not null or (state = 'accepted' and created_at < now() - ${olderThanMs} * interval '1 millisecond'))
        and finished_at is null
        and (attempts_to_start = 0
          or updated_at <= now() - least(24, power(2, least(attempts_to_start, 10) - 1)) * ${olderThanMs} * interval '1 millisecond')
      order by created_at limit ${limit}`;
  },

  /** Locks a run that has not begun, for the rest of the transaction; false when it has. */
  async lockAccepted(id: RunUuid): Promise<boolean> {
    const locked = await sql`select 1 from runs where id = ${id} and state = 'accepted' for update`;
    return locked.length === 1;
  },

  /** Counts a start that the engine refused, and shows what the run waits for. @returns how many there were */
  async startFailed(id: RunUuid, waiting_for: string): Promise<number> {
    const [row] = await sql<{ attempts_to_start: number }[]>`
      update runs set attempts_to_start = attempts_to_start + 1, waiting_for = ${waiting_for}, updated_at = now()
      where id = ${id} and finished_at is null returning attempts_to_start`;
    return row?.attempts_to_start ?? 0;
  },

  /** Runs that the store believes to be going on but has no recent record of. */
  async quiet(olderThanMs: number, limit = 2_500): Promise<RunRow[]> {
    return sql<RunRow[]>`
      select ${sql(columns)} from runs
      where finished_at is null and state <> 'accepted' and restart_at is null and updated_at < now() - ${olderThanMs} * interval '1 millisecond'
      order by updated_at limit ${limit}`;
  },

  /** Whether there is no such run, or it ended that long ago. */
  async isOver(id: RunUuid, forMs: number): Promise<boolean> {
    const open = await sql`
      select 1 from runs where id = ${id}
        and (finished_at is null or finished_at > now() - ${forMs} * interval '1 millisecond')`;
    return open.length === 0;
  },

  /** Notes that a quiet run was looked at, so that the next look takes others first. */
  async touch(ids: readonly RunUuid[]): Promise<void> {
    if (ids.length > 0) await sql`update runs set updated_at = now() where id in ${sql(ids)} and finished_at is null`;
  },

  /** Notes who asked for the run's end; the first who did. */
  async abortAsked(id: RunUuid, by: string): Promise<void> {
    await sql`
      update runs set abort_by = ${by}, abort_at = now(), updated_at = now()
      where id = ${id} and abort_at is null and finished_at is null`;
  },

  /** The plan as it goes on once the ramdisk's own steps have joined it, under the fence. */
  async replan(lock: Lock, steps: readonly PlannedStep[]): Promise<void> {
    await sql`
      with held as (${heldBy(sql, lock)})
      update runs set plan = ${sql.json(steps as never)} where id = ${lock.run} and exists (select 1 from held)`;
  },

  /** Notes how a run that begins to tidy up will end, so that another execution can end it. Under the fence. */
  async endsAs(lock: Lock, ending: RunEnding): Promise<void> {
    await sql`
      with held as (${heldBy(sql, lock)})
      update runs set ending = ${sql.json(ending as never)} where id = ${lock.run} and exists (select 1 from held)`;
  },

  /** Keeps a message until the engine has taken it. */
  async queueMessage(run: RunUuid, kind: string, payload: Readonly<Record<string, unknown>>): Promise<string> {
    const [row] = await sql<{ id: string }[]>`
      insert into run_messages (run_id, kind, payload) values (${run}, ${kind}, ${sql.json(payload as never)}) returning id`;
    return row!.id;
  },

  async unsentMessages(limit = 50): Promise<
    {
      id: string;
      run_id: RunUuid;
      workflow_id: string;
      kind: string;
      payload: Record<string, unknown>;
      run_state: RunState;
    }[]
  > {
    return sql`
      select m.id, m.run_id, r.workflow_id, m.kind, m.payload,
        case when r.restart_at is not null and r.finished_at is null then 'accepted' else r.state end as run_state from run_messages m join runs r on r.id = m.run_id
      where m.sent_at is null order by m.created_at limit ${limit}`;
  },

  async messageSent(id: string): Promise<void> {
    await sql`update run_messages set sent_at = now() where id = ${id}`;
  },
});
