/** Events of all nodes and runs that a caller may see: as a list, newest first, and as they happen, for clients that ask for a stream. */
import { z } from 'zod';
import type { SeenEvent } from '../../inventory/all-events';
import type { FeedPlace } from '../../inventory/feed';
import { type Caller, quotaProject } from '../../model/access/callers';
import { maskSecrets } from '../../model/access/secrets';
import { isTemperError, raise } from '../../model/errors';
import type { NodeUuid, RunUuid } from '../../model/ids';
import { maxMinor } from '../../model/resources/microversions';
import { nodeTarget, runTarget } from '../../policy';
import type { ApiContext } from '../context';
import type { Tailing } from '../http/event-tail';
import { type Answer, type ApiRequest, ok, route } from '../http/route';
import type { Sink } from '../http/sse';
import { bmcTextFor, bmcTextsIn, readsEverything, seesBmcRule } from '../resource/bmc-texts';
import { pageLimit, uuid } from '../resource/validation';
import { visibleNode } from '../resource/visibility';
import { callerKey, keepAliveMs } from './run-events';
import { runListRule, runTenantColumns } from './run-list';
import { visibleRun } from './runs';
import * as shapes from './shapes';

const seesNode = 'baremetal:node:get';
/** Of a node's own events the lessee of an earlier lease is no lessee. */
const nodeTenantColumns = { 'node.owner': 'now_owner', 'node.lessee': 'tenant' } as const;

const eventsQuery = z.strictObject({
  limit: pageLimit,
  marker: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  node: z.string().min(1).max(255).optional(),
  run: uuid.optional(),
  kind: z
    .string()
    .regex(/^[a-z][a-z._]{1,60}$/, { error: 'must be a kind of event, such as run.failed' })
    .optional(),
});
type EventsRequest = ApiRequest<unknown, z.output<typeof eventsQuery>, unknown>;

const mayRead = (ctx: ApiContext, who: Caller, event: SeenEvent): boolean => {
  const { now_owner: owner, now_lessee: lessee, tenant } = event;
  return event.run_id === null
    ? ctx.policy().allows(seesNode, who, nodeTarget({ owner, lessee: tenant }))
    : ctx.policy().allows(runListRule, who, runTarget({ owner, lessee, tenant }));
};

// Others hold values of fields, of which each has a rule of its own.
const plainKinds: readonly string[] = ['node.moved', 'node.power', 'node.frozen', 'node.thawed'];

const eventView = (ctx: ApiContext, who: Caller, event: SeenEvent) => {
  const { seq, at, kind, node_uuid, run_id, now_owner: owner, now_lessee: lessee } = event;
  const policy = ctx.policy();
  const whole = run_id !== null || plainKinds.includes(kind) || readsEverything(policy, who);
  const data = whole ? bmcTextsIn(maskSecrets(event.data), bmcTextFor(policy, who, { owner, lessee })) : {};
  return { seq, at: at.toISOString(), kind, node_uuid, run_uuid: run_id, data: data as Record<string, unknown> };
};

type Wanted = { readonly node?: NodeUuid; readonly run?: RunUuid; readonly kind?: string };

/** What the query names, as the caller may see it. Throws NodeNotFound, RunNotFound. */
const wantedOf = async (ctx: ApiContext, { who, query }: EventsRequest): Promise<Wanted> => ({
  ...(query.node !== undefined && { node: (await visibleNode(ctx, { who, version: maxMinor }, query.node)).uuid }),
  ...(query.run !== undefined && { run: (await visibleRun(ctx, who, query.run)).run.id }),
  ...(query.kind !== undefined && { kind: query.kind }),
});

const isWanted = ({ node, run, kind }: Wanted, event: SeenEvent): boolean =>
  (node === undefined || event.node_uuid === node) &&
  (run === undefined || event.run_id === run) &&
  (kind === undefined || event.kind === kind);

const listed = async (request: EventsRequest, ctx: ApiContext): Promise<Answer> => {
  const { limit, marker } = request.query;
  const policy = ctx.policy();
  const rows = await ctx.inventory.allEvents.page({
    ...(await wantedOf(ctx, request)),
    ofRuns: policy.filter(runListRule, request.who, runTenantColumns),
    ofNodes: policy.filter(seesNode, request.who, nodeTenantColumns),
    limit,
    before: marker,
  });
  return ok({ events: rows.map((row) => eventView(ctx, request.who, row)) });
};

type Following = {
  readonly wanted: Wanted;
  readonly again: () => Promise<Caller>;
  readonly tailing: Tailing;
  readonly closing: AbortSignal;
};

/** Who the caller is now; undefined once it is not known any more. */
const stillKnown = (again: () => Promise<Caller>): Promise<Caller | undefined> =>
  again().catch((thrown) => (isTemperError(thrown, 'Unauthenticated') ? undefined : Promise.reject(thrown)));

const send = async (ctx: ApiContext, who: Caller, wanted: Wanted, rows: readonly SeenEvent[], sink: Sink) => {
  const shown = rows.filter((row) => isWanted(wanted, row) && mayRead(ctx, who, row));
  const text = shown.map(
    (row) => `id: ${row.seq}\nevent: ${row.kind}\ndata: ${JSON.stringify(eventView(ctx, who, row))}\n\n`,
  );
  if (text.length > 0) await sink.write(text.join(''));
  return text.length > 0;
};

const isBefore = (one: FeedPlace, other: FeedPlace): boolean => {
  const [tx, otherTx] = [BigInt(one.tx), BigInt(other.tx)];
  return tx < otherTx || (tx === otherTx && one.seq <= other.seq);
};

const missedPage = 200;

/** What came after the place where the client left off, until where the stream begins. */
const sendMissed = async (ctx: ApiContext, following: Following, after: FeedPlace, sink: Sink): Promise<void> => {
  for (let place = after; !sink.signal.aborted; ) {
    const who = await stillKnown(following.again);
    if (!who) return;
    const rows = await ctx.inventory.allEvents.after(place, missedPage);
    const missed = rows.filter((row) => isBefore(row, following.tailing.from));
    await send(ctx, who, following.wanted, missed, sink);
    if (missed.length < missedPage) return;
    place = missed.at(-1)!;
  }
};

/** Writes events until the client leaves or is too far behind, the API ends, or the caller is no longer who it was. */
const follow = async (
  ctx: ApiContext,
  following: Following,
  after: FeedPlace | undefined,
  sink: Sink,
): Promise<void> => {
  const { wanted, again, tailing, closing } = following;
  await sink.write('retry: 2000\n\n');
  if (after) await sendMissed(ctx, following, after, sink);
  let spoke = Date.now();
  while (!sink.signal.aborted && !closing.aborted) {
    const rows = await tailing.take(keepAliveMs, sink.signal);
    if (rows === undefined) return;
    const silent = Date.now() - spoke >= keepAliveMs;
    // The reader may be behind where this client left off.
    const concerned = rows.filter((row) => isWanted(wanted, row) && !(after && isBefore(row, after)));
    if (concerned.length === 0 && !silent) continue;
    const who = await stillKnown(again);
    if (!who) return;
    const wrote = await send(ctx, who, wanted, concerned, sink);
    if (!wrote && silent) await sink.write(': keep-alive\n\n');
    if (wrote || silent) spoke = Date.now();
  }
};

/** Throws InvalidInput. */
const placeAfter = async (ctx: ApiContext, last: string | undefined): Promise<FeedPlace | undefined> => {
  if (last === undefined || last === '') return undefined;
  const place = /^\d{1,15}$/.test(last) ? await ctx.inventory.allEvents.placeOf(Number(last)) : undefined;
  return place ?? raise('InvalidInput', { field: 'Last-Event-ID', reason: 'is no event; leave it out to begin now' });
};

const streamed = async (request: EventsRequest, ctx: ApiContext): Promise<Answer> => {
  const wanted = await wantedOf(ctx, request);
  const after = await placeAfter(ctx, request.header('last-event-id'));
  const ear = await ctx.streams.open(null, callerKey(request.who), quotaProject(request.who));
  const tailing = await ctx.streams.tail.open().catch(async (thrown) => {
    await ear.close();
    throw thrown;
  });
  const following = { wanted, again: request.again, tailing, closing: ear.closing };
  return {
    status: 200,
    stream: (sink) =>
      follow(ctx, following, after, sink).finally(async () => {
        tailing.close();
        await ear.close();
      }),
  };
};

export const allEventRoutes = [
  route<unknown, z.output<typeof eventsQuery>>({
    method: 'GET',
    path: '/temper/v1/events',
    answers: { 200: shapes.allEvents },
    rules: [seesNode, runListRule, seesBmcRule],
    query: eventsQuery,
    handler: (request, ctx) =>
      request.header('accept')?.includes('text/event-stream') ? streamed(request, ctx) : listed(request, ctx),
  }),
];
