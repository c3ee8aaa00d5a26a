/** Route of the audit trail, newest first, as JSON or CSV. */

import { z } from 'zod';
import { eventRules } from '../../../admission/events';
import type { AuditEntry } from '../../../inventory/audit-list';
import { maskSecrets } from '../../../model/access/secrets';
import type { NodeUuid, RunUuid } from '../../../model/ids';
import { verdicts } from '../../../model/resources/audit';
import * as shapes from '../../../wire/policy';
import { auditRow } from '../../audit/record';
import type { ApiContext } from '../../context';
import { csv, wantsCsv } from '../../resource/csv';
import { sinceMoment, untilMoment } from '../../resource/moments';
import { markedRecord, readPage } from '../../resource/own-pages';
import { pageLimit, uuid } from '../../resource/validation';
import { nodeColumns } from '../../resource/visibility';
import { type ApiRequest, ok, route } from '../../server/route';
import { type AuditReach, auditReach, auditRule, nodeAuditRule } from './audit-part';

const auditPath = '/temper/v1/audit';

const shortText = z.string().min(1).max(255);

const auditQuery = z.strictObject({
  /** UUID or name. */
  node: shortText.optional(),
  project: shortText.optional(),
  run: uuid.optional(),
  user: shortText.optional(),
  action: shortText.optional(),
  verdict: z.enum(verdicts).optional(),
  request: shortText.optional(),
  since: sinceMoment.optional(),
  until: untilMoment.optional(),
  limit: pageLimit,
  marker: z
    .string()
    .regex(/^\d{1,15}$/, { error: 'must be the seq of an entry' })
    .optional(),
});
type AuditRequest = ApiRequest<unknown, z.output<typeof auditQuery>, unknown>;

/** Of others' requests, a tenant reads no address and no values. */
const dataFor = ({ data }: AuditEntry, isWhole: boolean): unknown => {
  if (isWhole) return maskSecrets(data);
  const { maintenance_reason, reason = maintenance_reason, changed } = data;
  return {
    ...(typeof reason === 'string' && { reason }),
    ...(typeof changed === 'object' && changed !== null && { changed: Object.keys(changed) }),
  };
};

const auditView = (entry: AuditEntry, { part }: AuditReach, nodeNames: ReadonlyMap<string, string | null>) => {
  const { at, run_id, requester, origin, resource_id, data: _, ...row } = entry;
  const { request_id, ...who } = requester;
  const isOwn = !part || (part.project !== null && requester.project_id === part.project);
  const {
    address = null,
    forwarded_for = null,
    global_request_id = null,
    project_name = null,
    roles = [],
  } = isOwn ? origin : {};
  return {
    ...row,
    at: at.toISOString(),
    who: { ...who, project_name, roles },
    address,
    forwarded_for,
    request_id,
    global_request_id,
    resource_id: resource_id || null,
    node_name: (row.node_uuid && nodeNames.get(row.node_uuid)) ?? null,
    run_uuid: run_id,
    data: dataFor(entry, !part),
  };
};
type AuditView = ReturnType<typeof auditView>;

const csvColumns = [
  'seq', 'at', 'user_id', 'user_name', 'user_project', 'user_project_name', 'roles', 'system_scope', 'strategy', 'address', 'forwarded_for',
  'action', 'verdict', 'rule', 'rule_set', 'code', 'resource', 'resource_id', 'node_uuid', 'node_name', 'project', 'run_uuid',
  'request_id', 'global_request_id', 'times', 'data',
] as const; // biome-ignore format: one row of names

const csvRow = ({ who: { project_id, project_name, roles, ...who }, ...row }: AuditView) => ({
  ...row,
  ...who,
  roles: roles.join(' '),
  user_project: project_id,
  user_project_name: project_name,
});

/** Present names of the nodes that the caller sees. */
const namesOf = async (ctx: ApiContext, { who }: AuditRequest, rows: readonly AuditEntry[]) => {
  const uuids = [...new Set(rows.flatMap(({ node_uuid }) => node_uuid ?? []))];
  if (uuids.length === 0) return new Map<NodeUuid, string | null>();
  const visible = ctx.policy().filter(eventRules.node, who, nodeColumns);
  const found = await ctx.inventory.rolloutSelection.named(visible, { uuids, names: [] });
  return new Map(found.map(({ uuid: node, name }) => [node, name]));
};

/** Written before the answer is sent: without a record, nothing is shown. */
const recordReading = (request: AuditRequest, { policy, inventory }: ApiContext, rule: string) =>
  inventory.audit.write(
    auditRow(policy(), request, {
      action: 'audit.read',
      rule,
      resource: 'audit',
      resource_id: '',
      data: request.query,
    }),
  );

const afterMarker = ({ query: { marker } }: AuditRequest, { inventory }: ApiContext, { part, node }: AuditReach) =>
  markedRecord(marker, (seq) =>
    part ? inventory.auditList.placeIn(part, node, Number(seq)) : inventory.auditList.placeOf(Number(seq)),
  );

const auditPageOf = (
  request: AuditRequest,
  ctx: ApiContext,
  { node, part }: AuditReach,
  after: Awaited<ReturnType<typeof afterMarker>>,
) => {
  const { marker: _, node: __, run, ...filters } = request.query;
  const wanted = { ...filters, node, part, after, run: run as RunUuid | undefined };
  return readPage(
    request,
    auditPath,
    (limit) => ctx.inventory.auditList.page({ ...wanted, limit }),
    ({ seq }) => seq,
  );
};

const listAudit = async (request: AuditRequest, ctx: ApiContext) => {
  const reach = await auditReach(ctx, request.who, request.query.node);
  const after = await afterMarker(request, ctx, reach);
  const { rows, next } = await auditPageOf(request, ctx, reach, after);
  const names = await namesOf(ctx, request, rows);
  await recordReading(request, ctx, reach.rule);
  const audit = rows.map((row) => auditView(row, reach, names));
  return wantsCsv(request) ? csv(csvColumns, audit.map(csvRow), next.next) : ok({ audit, ...next });
};

export const auditRoutes = [
  route({
    method: 'GET',
    path: auditPath,
    answers: { 200: shapes.audit },
    csv: true,
    rules: [auditRule, eventRules.node, nodeAuditRule],
    audited: true,
    query: auditQuery,
    handler: listAudit,
  }),
];
