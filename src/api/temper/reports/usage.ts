/** Report of usage: how long a project has leased which nodes in a month, or each project how many. */
import { z } from 'zod';
import { raise } from '../../../model/errors';
import { asUuid, type NodeUuid, type ProjectId } from '../../../model/ids';
import { usageTarget } from '../../../policy';
import * as shapes from '../../../wire/reports';
import type { ApiContext } from '../../context';
import { csv, wantsCsv } from '../../resource/csv';
import { markedRecord, readPage } from '../../resource/own-pages';
import { isoTime } from '../../resource/times';
import { pageLimit } from '../../resource/validation';
import { type ApiRequest, ok, route } from '../../server/route';

const usageRule = 'temper:usage:get';
const usagePath = '/temper/v1/reports/usage';

const usageQuery = z.strictObject({
  project: z.string().min(1).max(255).optional(),
  month: z
    .string()
    .regex(/^20\d\d-(0[1-9]|1[0-2])$/, { error: 'must be a month, such as 2026-11' })
    .optional(),
  limit: pageLimit,
  /** The node or project that the page follows. */
  marker: z.string().min(1).max(255).optional(),
});
type UsageQuery = z.output<typeof usageQuery>;
type UsageRequest = ApiRequest<unknown, UsageQuery, unknown>;

/** In UTC, and no later than now by PostgreSQL's clock, which wrote the times of leases. Throws InvalidInput. */
const monthOf = (given: string | undefined, now: Date) => {
  const month = given ?? now.toISOString().slice(0, 7);
  if (month > now.toISOString().slice(0, 7))
    raise('InvalidInput', { field: 'month', reason: 'must not be in the future' });
  const since = new Date(`${month}-01T00:00:00Z`);
  const next = new Date(since);
  next.setUTCMonth(next.getUTCMonth() + 1);
  return { month, since, until: next < now ? next : now };
};
type Month = ReturnType<typeof monthOf>;

const usageColumns = ['project', 'node_uuid', 'node_name', 'resource_class', 'leases', 'seconds'] as const;
const projectColumns = ['project', 'nodes', 'leases', 'seconds'] as const;

const facts = ({ month, since, until }: Month) => ({ month, since: isoTime(since), until: isoTime(until) });

const ofProject = async (request: UsageRequest, ctx: ApiContext, project: ProjectId, month: Month) => {
  const { usage } = ctx.inventory;
  const after = await markedRecord(request.query.marker, async (ident) => {
    const node = asUuid(ident) as NodeUuid | undefined;
    return node && (await usage.isKnown(project, node)) ? node : undefined;
  });
  const { rows, next } = await readPage(
    request,
    usagePath,
    (limit) => usage.nodes({ ...month, project, limit, ...(after && { after }) }),
    ({ node_uuid }) => node_uuid,
  );
  if (wantsCsv(request)) return csv(usageColumns, rows, next.next);
  return ok({ project, ...facts(month), usage: rows, ...next });
};

const ofAll = async (request: UsageRequest, ctx: ApiContext, month: Month) => {
  const { usage } = ctx.inventory;
  const known = async (project: string) => ((await usage.isKnown(project)) ? project : undefined);
  const after = await markedRecord(request.query.marker, known);
  const { rows, next } = await readPage(
    request,
    usagePath,
    (limit) => usage.projects({ ...month, limit, ...(after && { after }) }),
    ({ project }) => project,
  );
  if (wantsCsv(request)) return csv(projectColumns, rows, next.next);
  return ok({ project: null, ...facts(month), usage: rows, ...next });
};

/** Without `project`, that of the caller; a caller without one is shown all. */
const reportUsage = async (request: UsageRequest, ctx: ApiContext) => {
  const project = request.query.project ?? request.who.project_id;
  ctx.policy().require(usageRule, request.who, usageTarget({ project }));
  const month = monthOf(request.query.month, new Date(await ctx.inventory.clock()));
  return project === null ? ofAll(request, ctx, month) : ofProject(request, ctx, project, month);
};

export const usageRoutes = [
  route({
    method: 'GET',
    path: usagePath,
    answers: { 200: shapes.usage },
    csv: true,
    rules: [usageRule],
    query: usageQuery,
    handler: reportUsage,
  }),
];
