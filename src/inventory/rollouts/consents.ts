/** Tenants' consent: answers for a node, and targets that wait for one. */
import { raise } from '../../model/errors';
import type { NodeUuid, ProjectId, RolloutUuid } from '../../model/ids';
import {
  asksItself,
  type Consent,
  consentOf,
  type TenantAnswer,
  tenantOf,
  termsOf,
} from '../../model/rollouts/consent';
import type { Requester } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';
import { disruptionBudgets } from '../disruption-budgets';
import { events } from '../events';
import { type ProjectWindow, projectWindows } from '../project-windows';
import type { RolloutRow } from './rollouts';
import type { TargetRow } from './targets';

/** Per target of a rollout. Daily postponements for a month stay below it. */
const mostAnswers = 100;

type OfRollout = Pick<RolloutRow, 'id' | 'project' | 'requester' | 'spec' | 'verb' | 'runbook_name'>;
type Asked = Pick<TargetRow, 'position' | 'node_uuid' | 'owner' | 'lessee' | 'expected_ms' | 'p95_ms'>;

export type GivenAnswer = {
  readonly answer: TenantAnswer['answer'];
  readonly at?: Date | null;
  readonly window?: ProjectWindow | null;
  readonly reason: string | null;
  readonly requester: Requester;
};

type AnswerRow = { answer: TenantAnswer['answer']; at: Date | null; window_id: string | null; reason: string | null };

export const rolloutConsents = (sql: Db) => {
  const answerTo = async (rollout: RolloutUuid, position: number): Promise<TenantAnswer | undefined> => {
    const [row] = await sql<AnswerRow[]>`
      select answer, at, window_id, reason from rollout_answers where rollout = ${rollout} and position = ${position}
      order by created_at desc limit 1`;
    switch (row?.answer) {
      case undefined:
        return undefined;
      case 'now':
        return { answer: 'now' };
      case 'at':
        return { answer: 'at', at: row.at!.getTime() };
      case 'in':
        return { answer: 'in', window: (await projectWindows(sql).find(row.window_id!)) ?? null };
      case 'refuse':
        return { answer: 'refuse', reason: row.reason };
    }
  };

  const consentFor = async (rollout: RolloutUuid, target: Asked, tenant: ProjectId): Promise<Consent> => {
    const [clock] = await sql<{ now: Date; forced: boolean }[]>`
      select now() as now, forced_at is not null as forced from rollout_targets where rollout = ${rollout} and position = ${target.position}`;
    return consentOf({
      answer: await answerTo(rollout, target.position),
      windows: await projectWindows(sql).ofProject(tenant),
      budgeted: await disruptionBudgets(sql).speakOf(tenant, target.node_uuid),
      now: clock!.now.getTime(),
      needsMs: target.p95_ms ?? 0,
      forced: clock!.forced,
    });
  };

  const requireAnswers = async (rollout: RolloutUuid, position: number): Promise<void> => {
    const [row] = await sql<{ full: boolean }[]>`
      select count(*) >= ${mostAnswers} as full from rollout_answers where rollout = ${rollout} and position = ${position}`;
    if (row!.full)
      raise('Conflict', { reason: `There are ${mostAnswers} answers for this node; the last one counts.` });
  };

  const ask = async ({ id, spec, verb, runbook_name }: OfRollout, target: Asked, tenant: ProjectId): Promise<void> => {
    const { grace_ms } = termsOf(spec);
    const [asked] = await sql<{ until: Date }[]>`
      update rollout_targets set state = 'asked', asked_at = now(), not_before = now() + ${grace_ms} * interval '1 millisecond'
      where rollout = ${id} and position = ${target.position} and state = 'pending' returning not_before as until`;
    if (!asked) return;
    const data = { rollout: id, verb, runbook: runbook_name, expected_ms: target.expected_ms, answer_by: asked.until };
    const of = { node_uuid: target.node_uuid, project: tenant, rollout_id: id };
    await events(sql).append({ kind: 'rollout.asked', ...of, data });
  };

  return {
    /**
     * The present consent to a target. Without consent, postpones the target, requests an answer, or skips it. Call it in a transaction.
     */
    async settle(rollout: OfRollout, target: Asked): Promise<Consent['is']> {
      const tenant = tenantOf(target);
      if (tenant === null || asksItself(tenant, rollout)) return 'given';
      // Stays set, so that a retry needs consent, too.
      await sql`
        update rollout_targets set asked_at = coalesce(asked_at, now()) where rollout = ${rollout.id} and position = ${target.position}`;
      const consent = await consentFor(rollout.id, target, tenant);
      if (consent.is === 'waits')
        await sql`
          update rollout_targets set not_before = ${new Date(consent.until)}, reason = case state when 'pending' then ${consent.reason} else reason end
          where rollout = ${rollout.id} and position = ${target.position} and state in ('pending', 'failed')`;
      if (consent.is === 'asks') await ask(rollout, target, tenant);
      if (consent.is === 'refused')
        await sql`
          update rollout_targets set state = 'skipped', code = 'tenant_refused', reason = ${consent.reason}, ended_at = now()
          where rollout = ${rollout.id} and position = ${target.position} and state in ('pending', 'asked')`;
      return consent.is;
    },

    /** Wakes the rollout, in a transaction. False if the target has begun or is over. Throws Conflict if there are too many answers. */
    async answer(rollout: RolloutUuid, position: number, given: GivenAnswer): Promise<boolean> {
      const refused = given.answer === 'refuse';
      const moved = await sql`
        update rollout_targets set state = ${refused ? 'skipped' : 'pending'},
          code = case when ${refused} then 'tenant_refused' else code end,
          reason = case when ${refused} then ${given.reason} else reason end,
          ended_at = case when ${refused} then now() end, not_before = ${given.at ?? null}
        where rollout = ${rollout} and position = ${position} and state in ('pending', 'asked') and wave is not null returning 1`;
      if (moved.length === 0) return false;
      await requireAnswers(rollout, position);
      await sql`
        insert into rollout_answers (rollout, position, answer, at, window_id, requester, reason)
        values (${rollout}, ${position}, ${given.answer}, ${given.at ?? null}, ${given.window?.uuid ?? null},
          ${jsonOf(sql, given.requester)}, ${given.reason})`;
      await sql`select wake_rollout(${rollout})`;
      return true;
    },

    overdue: (rollout: RolloutUuid): Promise<(Asked & { node_uuid: NodeUuid })[]> => sql`
      select position, node_uuid, owner, lessee, expected_ms::float8 as expected_ms, p95_ms::float8 as p95_ms from rollout_targets
      where rollout = ${rollout} and state = 'asked' and not_before <= now() order by position limit 1000`,

    /** Releases a target without an answer in time, in a transaction. False if that has changed. */
    async force(rollout: RolloutUuid, position: number): Promise<boolean> {
      const forced = await sql`
        update rollout_targets set state = 'pending', forced_at = now(), not_before = null
        where rollout = ${rollout} and position = ${position} and state = 'asked' and not_before <= now() returning 1`;
      return forced.length === 1;
    },

    /** The next end of a tenant's time to answer. */
    async nextOverdue(rollout: RolloutUuid): Promise<Date | null> {
      const [row] = await sql<{ at: Date | null }[]>`
        select min(not_before) as at from rollout_targets where rollout = ${rollout} and state = 'asked'`;
      return row!.at;
    },

    /** Requests a retry. The target counts as failed until then. */
    async retry(rollout: RolloutUuid, position: number): Promise<boolean> {
      const asked = await sql`
        update rollout_targets set retry_asked_at = now()
        where rollout = ${rollout} and position = ${position} and state = 'failed' returning 1`;
      if (asked.length === 0) return false;
      await sql`select wake_rollout(${rollout})`;
      return true;
    },
  };
};
