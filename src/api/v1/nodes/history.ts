/** /v1/nodes/{node}/history: events of a node. */

import { z } from 'zod';
import { type BmcText, bmcTextFor, seesBmcRule } from '../../../admission/bmc-texts';
import { byLeaseAlone } from '../../../admission/obstacles';
import { visibleNode } from '../../../admission/visibility';
import type { HistoryEventRow } from '../../../inventory/nodes/history';
import { maskText } from '../../../model/access/secrets';
import { raise } from '../../../model/errors';
import type { LeaseUuid, NodeUuid } from '../../../model/ids';
import {
  historyRow,
  historySeq,
  historySince,
  historyTable,
  historyType,
  historyUuid,
  shortEvent,
} from '../../../model/resources/history';
import { nodeTarget } from '../../../policy';
import type { ApiContext } from '../../context';
import { askedList, collection, listQuery, nextLink } from '../../resource/lists';
import { markedRecord } from '../../resource/own-pages';
import { projections } from '../../resource/representation';
import { type ApiRequest, ok, route } from '../../server/route';

const historyRule = 'baremetal:node:history:get';

const historyView = projections(historyTable, {
  links: ({ node_uuid, uuid }, { base }) => [{ href: `${base}/v1/nodes/${node_uuid}/history/${uuid}`, rel: 'self' }],
});

/** An event in the fields of the wire. Events do not record the worker. */
const wireRow = (row: HistoryEventRow, whole: boolean, text: BmcText): Record<string, unknown> => {
  const { severity, says } = historyRow(row.kind);
  const event = text(maskText(says(row)));
  return {
    ...row,
    uuid: historyUuid(row.node_uuid, row.seq),
    severity,
    event: whole ? event : shortEvent(event),
    event_type: historyType(row),
    conductor: null,
  };
};

/** A node's history, or its part in the present lease. */
type HistoryPart = { readonly node: NodeUuid; readonly lease?: LeaseUuid; readonly text: BmcText };

/** The visible part of the history: through a lease only that lease's. Throws NodeNotFound, PolicyDenied. */
const visibleHistory = async (
  ctx: ApiContext,
  request: ApiRequest<{ node: string }, unknown, unknown>,
): Promise<HistoryPart> => {
  const node = await visibleNode(ctx, request, request.params.node);
  ctx.policy().require(historyRule, request.who, nodeTarget(node));
  const { lease_id } = node;
  const text = bmcTextFor(ctx.policy(), request.who, node);
  return {
    node: node.uuid,
    text,
    ...(lease_id && byLeaseAlone(ctx, historyRule, request.who, node) && { lease: lease_id }),
  };
};

const markerSeq = async (
  ctx: ApiContext,
  { node, lease }: HistoryPart,
  marker: string | undefined,
): Promise<number | undefined> => {
  const marked = await markedRecord(marker, async (id) => {
    const seq = historySeq(node, id.toLowerCase());
    return seq === undefined ? undefined : ctx.inventory.history.find(node, seq, lease);
  });
  return marked?.seq;
};

const listHistory = route({
  method: 'GET',
  path: '/v1/nodes/:node/history',
  since: historySince,
  rules: ['baremetal:node:get', historyRule, seesBmcRule],
  query: listQuery(historyTable),
  async handler(request: ApiRequest<{ node: string }, Record<string, unknown>>, ctx) {
    const { version, base } = request;
    const asked = askedList(historyTable, request.query, version, ctx.settings.maxLimit);
    const part = await visibleHistory(ctx, request);
    const { node, lease } = part;
    const after = await markerSeq(ctx, part, asked.marker);
    const rows = await ctx.inventory.history.ofNode(node, {
      limit: asked.limit,
      sort_dir: asked.sort_dir,
      after,
      lease,
    });
    const whole = asked.detail || asked.fields !== undefined;
    const { represent } = historyView.ofList(version, asked);
    const items = rows.map((row) => represent(wireRow(row, whole, part.text), { base }));
    const next = () => nextLink(base, `nodes/${node}/history`, asked, historyUuid(node, rows.at(-1)!.seq));
    return ok(collection(historyTable, items, next, asked.limit));
  },
});

const historyParams = z.object({ node: z.string(), event: z.string() });

const showHistory = route({
  method: 'GET',
  path: '/v1/nodes/:node/history/:event',
  since: historySince,
  rules: ['baremetal:node:get', historyRule, seesBmcRule],
  params: historyParams,
  async handler(request, ctx) {
    const { node, lease, text } = await visibleHistory(ctx, request);
    const { event } = request.params;
    const seq = historySeq(node, event.toLowerCase());
    const row = seq === undefined ? undefined : await ctx.inventory.history.find(node, seq, lease);
    if (!row) return raise('HistoryNotFound', { node: request.params.node, event });
    return ok(historyView.full(request.version).represent(wireRow(row, true, text), { base: request.base }));
  },
});

export const nodeHistoryRoutes = [listHistory, showHistory];
