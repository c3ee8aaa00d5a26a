/** Route of the audit trail, newest first. */
import { z } from 'zod';
import type { AuditEntry } from '../../../inventory/audit-list';
import { maskSecrets } from '../../../model/access/secrets';
import type { NodeUuid, RunUuid } from '../../../model/ids';
import { verdicts } from '../../../model/resources/audit';
import * as shapes from '../../../wire/policy';
import { auditRow } from '../../audit/record';
import type { ApiContext } from '../../context';
import { markedRecord, readPage } from '../../resource/own-pages';
import { pageLimit, uuid } from '../../resource/validation';
import { type ApiRequest, ok, route } from '../../server/route';

const auditRule = 'temper:audit:get';
const auditPath = '/temper/v1/audit';

const time = z.iso
  .datetime({ offset: true, error: 'must be a time with its zone, such as 2026-11-30T18:00:00Z' })
  .transform((text) => new Date(text));

const shortText = z.string().min(1).max(255);

const auditQuery = z.strictObject({
  node: uuid.optional(),
  project: shortText.optional(),
  run: uuid.optional(),
  user: shortText.optional(),
  action: shortText.optional(),
  verdict: z.enum(verdicts).optional(),
  request: shortText.optional(),
  since: time.optional(),
  until: time.optional(),
  limit: pageLimit,
  marker: z
    .string()
    .regex(/^\d{1,15}$/, { error: 'must be the seq of an entry' })
    .optional(),
});
type AuditQuery = z.output<typeof auditQuery>;

const auditView = ({
  at,
  run_id,
  data,
  requester: { request_id, ...who },
  origin,
  resource_id,
  ...row
}: AuditEntry) => ({
  ...row,
  at: at.toISOString(),
  who,
  address: origin.address ?? null,
  forwarded_for: origin.forwarded_for ?? null,
  request_id,
  global_request_id: origin.global_request_id ?? null,
  resource_id: resource_id || null,
  run_uuid: run_id,
  data: maskSecrets(data),
});

/** Written before the answer is sent: without a record, nothing is shown. */
const recordReading = (request: ApiRequest<unknown, AuditQuery, unknown>, { policy, inventory }: ApiContext) =>
  inventory.audit.write(
    auditRow(policy(), request, {
      action: 'audit.read',
      rule: auditRule,
      resource: 'audit',
      resource_id: '',
      data: request.query,
    }),
  );

const auditList = route({
  method: 'GET',
  path: auditPath,
  answers: { 200: shapes.audit },
  rules: [auditRule],
  audited: true,
  query: auditQuery,
  async handler(request, ctx) {
    const { policy, inventory } = ctx;
    const { who, query: asked } = request;
    policy().require(auditRule, who);
    const { marker, ...filters } = asked;
    const after = await markedRecord(marker, (seq) => inventory.auditList.placeOf(Number(seq)));
    const ids = { node: asked.node as NodeUuid | undefined, run: asked.run as RunUuid | undefined };
    const { rows, next } = await readPage(
      request,
      auditPath,
      (limit) => inventory.auditList.page({ ...filters, ...ids, after, limit }),
      ({ seq }) => seq,
    );
    await recordReading(request, ctx);
    return ok({ audit: rows.map(auditView), ...next });
  },
});

export const auditRoutes = [auditList];
