/** Routes of runs, under /temper/v1 because Ironic has none. */

import type { z } from 'zod';
import { type BmcText, bmcTextFor, readsEverything, seesBmcRule } from '../../../admission/bmc-texts';
import { visibleNode } from '../../../admission/visibility';
import type { StepRow } from '../../../inventory/runs/run-steps';
import type { RunRow } from '../../../inventory/runs/runs';
import type { Caller } from '../../../model/access/callers';
import { maskSecrets } from '../../../model/access/secrets';
import { raise } from '../../../model/errors';
import { asUuid, type LeaseUuid, type RunUuid } from '../../../model/ids';
import { maxMinor } from '../../../model/resources/microversions';
import { endedStates } from '../../../model/runs/runs';
import { runTarget, type Target } from '../../../policy';
import type { LiveRun } from '../../../runs/contract';
import * as shapes from '../../../wire/runs';
import type { ApiContext } from '../../context';
import { markedRecord, readPage, uuidPageQuery } from '../../resource/own-pages';
import { isoTime } from '../../resource/times';
import { type ApiRequest, ok, route } from '../../server/route';
import { phaseOf, withOutlook } from './outlook';

const runRule = 'temper:run:get';

type NodeStanding = NonNullable<Awaited<ReturnType<ApiContext['inventory']['runs']['standingOf']>>>;

/**
 * The node's present owner decides, not the owner at acceptance. A lessee sees runs of its present lease only: leasing the node again does
 * not bring old runs back.
 */
const visibleRuns = (
  ctx: ApiContext,
  who: Caller,
  node: NodeStanding | undefined,
): 'all' | { lease: LeaseUuid } | 'none' => {
  const { owner = null, lessee = null, lease_id = null } = node ?? {};
  const allows = (tenant: string | null) => ctx.policy().allows(runRule, who, runTarget({ owner, lessee, tenant }));
  if (allows(null)) return 'all';
  return lease_id !== null && allows(lessee) ? { lease: lease_id } : 'none';
};

const runsOfNodePath = '/temper/v1/nodes/:node/runs';

/** Throws MarkerNotFound if the list may not hold the run. */
const markerOf = async (
  ctx: ApiContext,
  marker: string | undefined,
  node: string,
  may: 'all' | { lease: LeaseUuid },
): Promise<RunUuid | undefined> => {
  const marked = await markedRecord(marker, async (id) => {
    const run = await ctx.inventory.runs.find(id as RunUuid);
    return run?.node_uuid === node && (may === 'all' || run.lease_id === may.lease) ? run : undefined;
  });
  return marked?.id;
};

const ofNode = route({
  method: 'GET',
  path: runsOfNodePath,
  answers: { 200: shapes.runsOfNode },
  rules: ['baremetal:node:get', runRule, seesBmcRule],
  query: uuidPageQuery,
  async handler(request: ApiRequest<{ node: string }, z.output<typeof uuidPageQuery>>, ctx) {
    const node = await visibleNode(ctx, { who: request.who, version: maxMinor }, request.params.node);
    const may = visibleRuns(ctx, request.who, await ctx.inventory.runs.standingOf(node.uuid));
    if (may === 'none') return raise('PolicyDenied', { rule: runRule });
    const after = await markerOf(ctx, request.query.marker, node.uuid, may);
    const { rows, next } = await readPage(
      request,
      runsOfNodePath,
      (limit) => ctx.inventory.runs.ofNode(node.uuid, { limit, after, ...(may !== 'all' && may) }),
      ({ id }) => id,
    );
    const steps = await ctx.inventory.runSteps.ofRuns(rows.map(({ id }) => id));
    const stepsOf = (run: RunUuid) => steps.filter(({ run_id }) => run_id === run);
    const policy = ctx.policy();
    const view = {
      ctx,
      base: request.base,
      links: readsEverything(policy, request.who),
      text: bmcTextFor(policy, request.who, node),
    };
    const runs = rows.map((run) => textsOf(runView(run, stepsOf(run.id), view), view.text));
    return ok({ runs: runs.map((run) => ({ ...run, phase: phaseOf(run) })), sources: ['store'], ...next });
  },
});

/** The lessee counts only during the lease under which the run was accepted. */
export const targetOfRun = (run: RunRow, node: NodeStanding | undefined): Target => {
  const leaseLasts = run.lease_id !== null && run.lease_id === node?.lease_id;
  return runTarget({
    owner: node?.owner ?? null,
    lessee: node?.lessee ?? null,
    tenant: leaseLasts ? run.lessee : null,
  });
};

/** Throws RunNotFound, also for hidden runs. */
export const visibleRun = async (
  ctx: ApiContext,
  who: Caller,
  ident: string,
): Promise<{ run: RunRow; node: NodeStanding | undefined }> => {
  const id = asUuid(ident) as RunUuid | undefined;
  const run = id && (await ctx.inventory.runs.find(id));
  if (!run) return raise('RunNotFound', { run: ident });
  const node = await ctx.inventory.runs.standingOf(run.node_uuid);
  if (!ctx.policy().allows(runRule, who, targetOfRun(run, node))) raise('RunNotFound', { run: ident });
  return { run, node };
};

const showRun = route({
  method: 'GET',
  path: '/temper/v1/runs/:run',
  answers: { 200: shapes.run },
  rules: [runRule, seesBmcRule],
  async handler({ params, who, base }: ApiRequest<{ run: string }>, ctx) {
    const { run, node } = await visibleRun(ctx, who, params.run);
    const view = {
      ctx,
      base,
      links: readsEverything(ctx.policy(), who),
      text: bmcTextFor(ctx.policy(), who, node),
    };
    const [steps, outlook] = await Promise.all([
      ctx.inventory.runSteps.ofRun(run.id),
      ctx.inventory.stepDurations.ofRun(run.id),
    ]);
    // Temporal adds nothing to an ended run.
    const live = endedStates.includes(run.state) ? { sources: [] } : await ctx.runs.look(run.id);
    return ok({
      ...withOutlook(textsOf(withLive(runView(run, steps, view), live), view.text), outlook),
      sources: ['store', ...live.sources.map((source) => `temporal:${source}`)],
    });
  },
});

const shownStep = (step: StepRow) => ({
  index: step.index,
  interface: step.interface,
  step: step.step,
  /** The verb's own, not the caller's. */
  system: step.system,
  /** If false, an abort waits for the step's end. */
  abortable: step.abortable,
  args: maskSecrets(step.args),
  state: step.state,
  /** For steps of several acts. */
  act: step.state === 'running' ? step.act : null,
  /** Of the present or last act. */
  attempt: step.attempt,
  /** Of all acts, retries included. */
  attempts: step.attempts,
  last_error: step.last_error,
  next_retry_at: null as string | null,
  waiting_for: null as string | null,
  note: step.note,
  started_at: isoTime(step.started_at),
  finished_at: isoTime(step.finished_at),
});

/** `links`: the caller may read everything and gets a link to the Temporal UI. */
type View = { readonly ctx: ApiContext; readonly base: string; readonly links: boolean; readonly text: BmcText };

const runView = (run: RunRow, steps: readonly StepRow[], { ctx, base, links }: View) => ({
  uuid: run.id,
  node_uuid: run.node_uuid,
  node_name: run.node_name,
  verb: run.verb,
  runbook:
    run.runbook_uuid === null
      ? null
      : { uuid: run.runbook_uuid, name: run.runbook_name, revision: run.runbook_revision },
  parameters: run.parameters,
  state: run.state,
  requester: run.requester,
  rule_set: run.rule_set,
  owner: run.owner,
  lessee: run.lessee,
  lease: run.lease_id,
  batch: run.batch,
  /** The failed run whose steps this run continues. */
  resumes: run.resumes,
  target: run.target,
  cursor: run.cursor,
  waiting_for: run.waiting_for,
  last_error: run.last_error,
  abort: run.abort_by === null ? null : { by: run.abort_by, at: isoTime(run.abort_at) },
  created_at: isoTime(run.created_at),
  started_at: isoTime(run.started_at),
  finished_at: isoTime(run.finished_at),
  updated_at: isoTime(run.updated_at),
  steps: steps.map(shownStep),
  links: { self: `${base}/temper/v1/runs/${run.id}`, ...(links && uiLink(run, ctx)) },
});

type Shown = ReturnType<typeof runView>;

/** Masks error texts, which name the BMC, its port and paths. */
const textsOf = (run: Shown, text: BmcText): Shown => ({
  ...run,
  waiting_for: text(run.waiting_for),
  last_error: text(run.last_error),
  steps: run.steps.map((step) => ({
    ...step,
    last_error: text(step.last_error),
    waiting_for: text(step.waiting_for),
    note: text(step.note),
  })),
});

// A run that ended without a workflow has no page there.
const uiLink = (run: RunRow, { settings }: ApiContext): { temporal_ui?: string } =>
  settings.temporalUi && (run.workflow_run_id !== null || run.finished_at === null)
    ? {
        temporal_ui: `${settings.temporalUi}/namespaces/${settings.temporalNamespace}/workflows/${encodeURIComponent(run.workflow_id)}${run.workflow_run_id ? `/${run.workflow_run_id}` : ''}/history`,
      }
    : {};

/** Adds data that only Temporal has: the present attempt and the time of the next one. */
const withLive = (run: Shown, live: LiveRun): Shown => {
  const pending = live.pending?.find(({ activity }) => activity.startsWith('step-'));
  const waiting = (live.progress as { waitingFor?: string | null } | undefined)?.waitingFor ?? run.waiting_for;
  return {
    ...run,
    waiting_for: waiting,
    steps: run.steps.map((step) => {
      if (step.index !== run.cursor || endedStates.includes(run.state)) return step;
      return {
        ...step,
        waiting_for: waiting,
        ...(pending && {
          attempt: pending.attempt,
          last_error: pending.last_error ?? step.last_error,
          next_retry_at: pending.next_retry_at,
        }),
      };
    }),
  };
};

export const runRoutes = [ofNode, showRun];
