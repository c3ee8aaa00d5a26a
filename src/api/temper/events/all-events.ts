/** Events that a caller may see: a list, newest first, or an event stream. */

import { z } from 'zod';
import { seesBmcRule } from '../../../admission/bmc-texts';
import { eventRules, eventView, mayReadEvent, visibleEvent } from '../../../admission/events';
import { visibleNode } from '../../../admission/visibility';
import type { SeenEvent } from '../../../inventory/event-pages';
import type { Caller } from '../../../model/access/callers';
import type { NodeUuid, RolloutUuid, RunUuid } from '../../../model/ids';
import { and, type Predicate } from '../../../model/predicates';
import { maxMinor } from '../../../model/resources/microversions';
import type { Policy } from '../../../policy';
import * as shapes from '../../../wire/installation';
import type { ApiContext } from '../../context';
import { readPage } from '../../resource/own-pages';
import { pageLimit, uuid } from '../../resource/validation';
import { callerKey } from '../../server/caller-key';
import { type ApiRequest, ok, route } from '../../server/route';
import { visibleRollout } from '../rollouts/views';
import { runTenantColumns } from '../runs/list';
import { visibleRun } from '../runs/runs';
import { type EventFollowing, eventStream, placeAfter } from './event-following';
import { createEventTexts } from './event-texts';
import { inTurn } from './turns';

/** The lessee of an earlier lease does not count as lessee of a node's own events. */
const nodeTenantColumns = { 'node.owner': 'now_owner', 'node.lessee': 'tenant' } as const;

const eventsPath = '/temper/v1/events';

const eventsQuery = z.strictObject({
  limit: pageLimit,
  marker: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  node: z.string().min(1).max(255).optional(),
  run: uuid.optional(),
  rollout: uuid.optional(),
  kind: z
    .string()
    .regex(/^[a-z][a-z._]{1,60}$/, { error: 'must be a kind of event, such as run.failed' })
    .optional(),
});
type EventsRequest = ApiRequest<unknown, z.output<typeof eventsQuery>, unknown>;

const rolloutEventColumns = {
  'rollout.project': 'rollout_project',
  'rollout.requester': 'rollout_requester',
} as const;
const nowColumns = { 'node.owner': 'now_owner', 'node.lessee': 'now_lessee' } as const;
const plannedColumns = { 'node.owner': 'target_owner', 'node.lessee': 'target_lessee' } as const;

/** The node must be the project's now, and have been when the rollout was planned. */
export const ofTargets = (policy: Policy, who: Caller): Predicate =>
  and(
    policy.filter(eventRules.target, who, plannedColumns),
    policy.filter(eventRules.target, who, nowColumns),
    policy.filter(eventRules.node, who, nowColumns),
  );

type WantedEvents = {
  readonly node?: NodeUuid;
  readonly run?: RunUuid;
  readonly rollout?: RolloutUuid;
  readonly kind?: string;
};

/** Throws NodeNotFound, RunNotFound, RolloutNotFound. */
const wantedEvents = async (ctx: ApiContext, { who, query }: EventsRequest): Promise<WantedEvents> => ({
  ...(query.node !== undefined && { node: (await visibleNode(ctx, { who, version: maxMinor }, query.node)).uuid }),
  ...(query.run !== undefined && { run: (await visibleRun(ctx, who, query.run)).run.id }),
  ...(query.rollout !== undefined && { rollout: (await visibleRollout(ctx, who, query.rollout)).row.id }),
  ...(query.kind !== undefined && { kind: query.kind }),
});

const isWanted = ({ node, run, rollout, kind }: WantedEvents, event: SeenEvent): boolean =>
  (node === undefined || event.node_uuid === node) &&
  (run === undefined || event.run_id === run) &&
  (rollout === undefined || event.rollout_id === rollout) &&
  (kind === undefined || event.kind === kind);

const seenBy = (policy: Policy, who: Caller) => ({
  ofRuns: policy.filter(eventRules.run, who, runTenantColumns),
  ofNodes: policy.filter(eventRules.node, who, nodeTenantColumns),
  ofRollouts: policy.filter(eventRules.rollout, who, rolloutEventColumns),
  ofTargets: ofTargets(policy, who),
});

const listEvents = async (request: EventsRequest, ctx: ApiContext) => {
  const policy = ctx.policy();
  const wanted = {
    ...(await wantedEvents(ctx, request)),
    ...seenBy(policy, request.who),
    before: request.query.marker,
  };
  const { rows, next } = await readPage(
    request,
    eventsPath,
    (limit) => ctx.inventory.allEvents.page({ ...wanted, limit }),
    ({ seq }) => seq,
  );
  return ok({ events: rows.map((row) => eventView(policy, request.who, row)), ...next });
};

const streamed = async (request: EventsRequest, ctx: ApiContext) => {
  const wanted = await wantedEvents(ctx, request);
  const isReadable = (event: SeenEvent): boolean => mayReadEvent(ctx.policy(), request.who, event);
  const last = request.header('last-event-id');
  const after = await placeAfter(ctx, last, isReadable, 'is no event; leave it out to begin now');
  const texts = createEventTexts(ctx.policy, request.who, visibleEvent);
  let caller = request.who;
  const following: EventFollowing = {
    // Rights are checked again before each write. Until then, hidden events neither wake the stream nor stay in memory.
    concerns: (event) => isWanted(wanted, event) && texts.of(event) !== undefined,
    missed: (between, limit, leaving) =>
      inTurn(callerKey(caller), async () => {
        if (leaving.aborted) return [];
        return ctx.inventory.allEvents.missed({ ...wanted, ...seenBy(ctx.policy(), caller), between, limit });
      }),
    texts: async (who, rows) => {
      caller = who;
      texts.setCaller(who);
      return rows.flatMap((row) => texts.of(row) ?? []);
    },
  };
  return eventStream(request, ctx, following, after);
};

export const allEventRoutes = [
  route({
    method: 'GET',
    path: eventsPath,
    answers: { 200: shapes.allEvents },
    rules: [eventRules.node, eventRules.run, eventRules.rollout, eventRules.target, seesBmcRule],
    query: eventsQuery,
    handler: (request, ctx) =>
      request.header('accept')?.includes('text/event-stream') ? streamed(request, ctx) : listEvents(request, ctx),
  }),
];
