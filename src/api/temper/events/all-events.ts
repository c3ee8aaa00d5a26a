/** Events that a caller may see: a list, newest first, or an event stream. */

import { z } from 'zod';
import { visibleNode } from '../../../admission/visibility';
import type { SeenEvent } from '../../../inventory/event-pages';
import type { Caller } from '../../../model/access/callers';
import { maskSecrets } from '../../../model/access/secrets';
import type { NodeUuid, RolloutUuid, RunUuid } from '../../../model/ids';
import { and, type Predicate } from '../../../model/predicates';
import { kindsWith } from '../../../model/resources/event-kinds';
import { maxMinor } from '../../../model/resources/microversions';
import { nodeTarget, type Policy, rolloutTarget, runTarget } from '../../../policy';
import * as shapes from '../../../wire/installation';
import type { ApiContext } from '../../context';
import { bmcTextFor, bmcTextsIn, readsEverything, seesBmcRule } from '../../resource/bmc-texts';
import { readPage } from '../../resource/own-pages';
import { pageLimit, uuid } from '../../resource/validation';
import { callerKey } from '../../server/caller-key';
import { type ApiRequest, ok, route } from '../../server/route';
import { rolloutRules, visibleRollout } from '../rollouts/views';
import { runListRule, runTenantColumns } from '../runs/list';
import { visibleRun } from '../runs/runs';
import { type EventFollowing, eventStream, placeAfter } from './event-following';
import { createEventTexts, type ViewFor } from './event-texts';
import { inTurn } from './turns';

const seesNode = 'baremetal:node:get';
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
    policy.filter(rolloutRules.own, who, plannedColumns),
    policy.filter(rolloutRules.own, who, nowColumns),
    policy.filter(seesNode, who, nowColumns),
  );

const mayReadOfRollout = (policy: Policy, who: Caller, event: SeenEvent): boolean => {
  const { node_uuid, now_owner, now_lessee, target_owner, target_lessee } = event;
  const rollout = rolloutTarget({ project: event.rollout_project, requester: event.rollout_requester });
  if (policy.allows(rolloutRules.get, who, rollout)) return true;
  const now = nodeTarget({ owner: now_owner, lessee: now_lessee });
  return (
    node_uuid !== null &&
    policy.allows(rolloutRules.own, who, nodeTarget({ owner: target_owner, lessee: target_lessee })) &&
    policy.allows(rolloutRules.own, who, now) &&
    policy.allows(seesNode, who, now)
  );
};

const mayRead = (policy: Policy, who: Caller, event: SeenEvent): boolean => {
  const { now_owner: owner, now_lessee: lessee, tenant } = event;
  if (event.rollout_id !== null) return mayReadOfRollout(policy, who, event);
  return event.run_id === null
    ? policy.allows(seesNode, who, nodeTarget({ owner, lessee: tenant }))
    : policy.allows(runListRule, who, runTarget({ owner, lessee, tenant }));
};

const plainKinds = kindsWith('plain');

/** The event as this caller may read it, after `mayRead`. */
export const eventView = (policy: Policy, who: Caller, event: SeenEvent) => {
  const { seq, at, kind, node_uuid, run_id, rollout_id, now_owner: owner, now_lessee: lessee } = event;
  const whole = run_id !== null || rollout_id !== null || plainKinds.includes(kind) || readsEverything(policy, who);
  const data = whole ? bmcTextsIn(maskSecrets(event.data), bmcTextFor(policy, who, { owner, lessee })) : {};
  const of = { node_uuid, run_uuid: run_id, rollout_uuid: rollout_id };
  return { seq, at: at.toISOString(), kind, ...of, data: data as Record<string, unknown> };
};

const visibleView: ViewFor = (policy, who, event) =>
  mayRead(policy, who, event) ? eventView(policy, who, event) : undefined;

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
  ofRuns: policy.filter(runListRule, who, runTenantColumns),
  ofNodes: policy.filter(seesNode, who, nodeTenantColumns),
  ofRollouts: policy.filter(rolloutRules.get, who, rolloutEventColumns),
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
  const isReadable = (event: SeenEvent): boolean => mayRead(ctx.policy(), request.who, event);
  const last = request.header('last-event-id');
  const after = await placeAfter(ctx, last, isReadable, 'is no event; leave it out to begin now');
  const texts = createEventTexts(ctx.policy, request.who, visibleView);
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
    rules: [seesNode, runListRule, rolloutRules.get, rolloutRules.own, seesBmcRule],
    query: eventsQuery,
    handler: (request, ctx) =>
      request.header('accept')?.includes('text/event-stream') ? streamed(request, ctx) : listEvents(request, ctx),
  }),
];
