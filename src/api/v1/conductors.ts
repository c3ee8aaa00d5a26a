/** /v1/conductors: BMC workers, alive or silent. */
import { z } from 'zod';
import type { WorkerRow } from '../../inventory/workers';
import { raise } from '../../model/errors';
import { conductorsSince, conductorTable } from '../../model/resources/conductors';
import { askedList, chosenFields, collection, type ListAsked, listQuery, nextLink, showQuery } from '../resource/lists';
import { links, projections } from '../resource/representation';
import { ok, route } from '../server/route';

const conductorRule = 'baremetal:conductor:get';

const conductorView = projections(
  conductorTable,
  { links: (row, { base }) => links(base, `conductors/${row.hostname}`) },
  ['hostname'],
);

const orderKey = (sort_key: string, row: WorkerRow): string | number => {
  const value = sort_key === 'id' ? row.created_at : (row as unknown as Record<string, unknown>)[sort_key];
  return value instanceof Date ? value.getTime() : String(value);
};

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

/** A page in memory. An installation has few workers, never thousands. */
const workerPage = (rows: readonly WorkerRow[], asked: ListAsked): WorkerRow[] => {
  const up = [...rows].sort(
    (a, b) => compare(orderKey(asked.sort_key, a), orderKey(asked.sort_key, b)) || compare(a.hostname, b.hostname),
  );
  const sorted = asked.sort_dir === 'asc' ? up : up.reverse();
  if (asked.marker === undefined) return sorted.slice(0, asked.limit);
  const at = sorted.findIndex((row) => row.hostname === asked.marker);
  if (at < 0) raise('MarkerNotFound', { marker: asked.marker });
  return sorted.slice(at + 1, at + 1 + asked.limit);
};

const listConductors = route({
  method: 'GET',
  path: '/v1/conductors',
  since: conductorsSince,
  rules: [conductorRule],
  query: listQuery(conductorTable),
  handler: async ({ who, query, version, base }, ctx) => {
    const asked = askedList(conductorTable, query, version, ctx.settings.maxLimit);
    ctx.policy().require(conductorRule, who);
    const { represent } = conductorView.ofList(version, asked);
    const rows = workerPage(await ctx.inventory.workers.list(), asked);
    const next = () => nextLink(base, 'conductors', asked, rows.at(-1)!.hostname);
    return ok(
      collection(
        conductorTable,
        rows.map((row) => represent(row, { base })),
        next,
        asked.limit,
      ),
    );
  },
});

const conductorParams = z.object({ hostname: z.string() });

const showConductor = route({
  method: 'GET',
  path: '/v1/conductors/:hostname',
  since: conductorsSince,
  rules: [conductorRule],
  params: conductorParams,
  query: showQuery,
  handler: async ({ who, params, query, version, base }, ctx) => {
    const fields = chosenFields(conductorTable, query.fields, version);
    ctx.policy().require(conductorRule, who);
    const found = (await ctx.inventory.workers.list()).find((row) => row.hostname === params.hostname);
    const row = found ?? raise('ConductorNotFound', { conductor: params.hostname });
    const { represent } = conductorView.ofOne(version, fields);
    return ok(represent(row, { base }));
  },
});

export const conductorRoutes = [listConductors, showConductor];
