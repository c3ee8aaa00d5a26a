/** Routes of runbook revisions: list, show, diff and withdraw. */

import { z } from 'zod';
import { requesterOf } from '../../../admission/requester';
import { findVisibleRunbook } from '../../../admission/visibility';
import type { RunbookRevision } from '../../../inventory/runbook-revisions';
import type { Caller } from '../../../model/access/callers';
import { maskSecrets } from '../../../model/access/secrets';
import { raise } from '../../../model/errors';
import { asUuid, type RunbookUuid } from '../../../model/ids';
import { changesBetween } from '../../../model/json-diff';
import { always, type Predicate } from '../../../model/predicates';
import type { RunbookStep } from '../../../model/resources/runbook-steps';
import type { Runbook } from '../../../model/resources/runbooks';
import { runbookTarget } from '../../../policy';
import * as shapes from '../../../wire/runbooks';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { readPage } from '../../resource/own-pages';
import { pageLimit, revisionNumber } from '../../resource/validation';
import { type ApiRequest, ok, type Route, route } from '../../server/route';
import { runbookColumns } from '../../v1/runbooks/visibility';

const revisionRules = {
  get: 'baremetal:runbook:get',
  author: 'temper:runbook:author',
  withdraw: 'temper:runbook:withdraw',
} as const;

const ofOne = z.object({ runbook: z.string(), revision: revisionNumber });
const listQuery = z.strictObject({ limit: pageLimit, marker: revisionNumber.optional() });
const diffQuery = z.strictObject({ from: revisionNumber.optional() });
const withdrawal = z.strictObject({
  reason: z.string().trim().min(1, { error: 'say why; refused callers read it' }).max(1_000),
});

type OfRunbook = { runbook: string };
type OfOne = z.output<typeof ofOne>;

/** User names are only for the runbook's authors, even if all may run it. */
const people = (ctx: ApiContext, who: Caller, row: RunbookRevision): boolean =>
  ctx.policy().allows(revisionRules.author, who, runbookTarget(row));

/** A revision without its steps, author and times. */
const fieldsOf = ({ name, owner, public: open, traits, disable_ramdisk, parameters }: RunbookRevision) => ({
  name,
  owner,
  public: open,
  traits,
  disable_ramdisk,
  parameters,
});

const revisionView = (row: RunbookRevision, newest: number, named: boolean) => ({
  revision: row.revision,
  newest: row.revision === newest,
  digest: row.digest,
  ...fieldsOf(row),
  author: named ? row.author : null,
  created_at: row.created_at.toISOString(),
  withdrawn:
    row.withdrawn_at === null
      ? null
      : { at: row.withdrawn_at.toISOString(), by: named ? row.withdrawn_by : null, reason: row.withdrawn_reason! },
});

/** The fields that a diff compares. */
const comparedFields = (row: RunbookRevision, steps: readonly RunbookStep[]) => ({
  ...fieldsOf(row),
  steps: maskSecrets(steps),
});

/** The revision's own visibility decides: a public runbook may have been private then. */
const mayRead = (ctx: ApiContext, who: Caller, row: RunbookRevision): boolean =>
  ctx.policy().allows(revisionRules.get, who, runbookTarget(row));

/** `mayRead` as a predicate over rows. */
const readable = (ctx: ApiContext, who: Caller): Predicate =>
  ctx.policy().filter(revisionRules.get, who, runbookColumns);

/** Throws RevisionNotFound, also for hidden revisions. */
const visibleRevision = async (
  ctx: ApiContext,
  who: Caller,
  runbook: Withdrawable,
  revision: number,
): Promise<RunbookRevision> => {
  const row = await ctx.inventory.runbookRevisions.find(runbook.uuid, revision);
  return row && mayRead(ctx, who, row) ? row : raise('RevisionNotFound', { runbook: runbook.name, revision });
};

const listPath = '/temper/v1/runbooks/:runbook/revisions';

const listRevisions = async (request: ApiRequest<OfRunbook, z.output<typeof listQuery>, unknown>, ctx: ApiContext) => {
  const { who, params, query } = request;
  const runbook = await findVisibleRunbook(ctx, who, params.runbook);
  const seen = { visible: readable(ctx, who), before: query.marker };
  const { rows, next } = await readPage(
    request,
    listPath,
    (limit) => ctx.inventory.runbookRevisions.list(runbook.uuid, { ...seen, limit }),
    ({ revision }) => revision,
  );
  return ok({ revisions: rows.map((row) => revisionView(row, runbook.revision, people(ctx, who, row))), ...next });
};

const wholeView = async (ctx: ApiContext, who: Caller, runbook: Withdrawable, row: RunbookRevision) => {
  const steps = await ctx.inventory.runbookRevisions.steps(runbook.uuid, row.revision);
  return { ...revisionView(row, runbook.revision, people(ctx, who, row)), steps: maskSecrets(steps) };
};

const showRevision = async ({ who, params }: ApiRequest<OfOne, unknown, unknown>, ctx: ApiContext) => {
  const runbook = await findVisibleRunbook(ctx, who, params.runbook);
  const row = await visibleRevision(ctx, who, runbook, params.revision);
  return ok(await wholeView(ctx, who, runbook, row));
};

/** Secrets are masked on both sides; a changed secret shows in the digests only. */
const diff = async (
  { who, params, query }: ApiRequest<OfOne, z.output<typeof diffQuery>, unknown>,
  ctx: ApiContext,
) => {
  const runbook = await findVisibleRunbook(ctx, who, params.runbook);
  const to = await visibleRevision(ctx, who, runbook, params.revision);
  const earlier = query.from ?? params.revision - 1;
  if (earlier < 1) raise('InvalidInput', { field: 'from', reason: 'revision 1 is the first; there is none before it' });
  const from = await visibleRevision(ctx, who, runbook, earlier);
  const [before, after] = await Promise.all(
    [from, to].map(async (row) =>
      comparedFields(row, await ctx.inventory.runbookRevisions.steps(runbook.uuid, row.revision)),
    ),
  );
  return ok({
    from: { revision: from.revision, digest: from.digest },
    to: { revision: to.revision, digest: to.digest },
    patch: changesBetween(before, after),
  });
};

type Withdrawable = Pick<Runbook, 'uuid' | 'name' | 'owner' | 'public' | 'revision'>;

/** A plan may still name a revision of a deleted runbook. Its last revision decides who may withdraw; others get RunbookNotFound. */
const withdrawable = async (ctx: ApiContext, who: Caller, ident: string): Promise<Withdrawable> => {
  const uuid = asUuid(ident) as RunbookUuid | undefined;
  const [last] =
    uuid === undefined || (await ctx.inventory.runbooks.find(uuid))
      ? []
      : await ctx.inventory.runbookRevisions.list(uuid, { visible: always, limit: 1 });
  if (!last) return findVisibleRunbook(ctx, who, ident);
  if (!ctx.policy().allows(revisionRules.withdraw, who, runbookTarget(last)))
    raise('RunbookNotFound', { runbook: ident });
  return { ...last, uuid: last.runbook_uuid };
};

const withdraw = async (request: ApiRequest<OfOne, unknown, z.output<typeof withdrawal>>, ctx: ApiContext) => {
  const { who, params, body } = request;
  const runbook = await withdrawable(ctx, who, params.runbook);
  const policy = ctx.policy();
  const { revision } = await visibleRevision(ctx, who, runbook, params.revision);
  policy.require(revisionRules.withdraw, who, runbookTarget(runbook));
  await ctx.inventory.transaction(async (store) => {
    if (!(await store.runbookRevisions.withdraw(runbook.uuid, revision, requesterOf(request), body.reason)))
      raise('Conflict', { reason: `Revision ${revision} of runbook ${runbook.name} was withdrawn before.` });
    await auditAndEvent(store, policy, request, {
      action: 'runbook.withdraw',
      kind: 'runbook.withdrawn',
      rule: revisionRules.withdraw,
      resource: 'runbook',
      resource_id: runbook.uuid,
      project: runbook.owner,
      data: { name: runbook.name, revision, reason: body.reason },
    });
  });
  return ok(await wholeView(ctx, who, runbook, await visibleRevision(ctx, who, runbook, revision)));
};

const onePath = `${listPath}/:revision`;

export const runbookRevisionRoutes: Route[] = [
  route({
    method: 'GET',
    path: listPath,
    answers: { 200: shapes.runbookRevisions },
    rules: [revisionRules.get, revisionRules.author],
    query: listQuery,
    handler: listRevisions,
  }),
  route({
    method: 'GET',
    path: onePath,
    answers: { 200: shapes.runbookRevision },
    rules: [revisionRules.get, revisionRules.author],
    params: ofOne,
    handler: showRevision,
  }),
  route({
    method: 'GET',
    path: `${onePath}/diff`,
    answers: { 200: shapes.runbookDiff },
    rules: [revisionRules.get],
    params: ofOne,
    query: diffQuery,
    handler: diff,
  }),
  route({
    method: 'POST',
    path: `${onePath}/withdraw`,
    answers: { 200: shapes.runbookRevision },
    rules: [revisionRules.get, revisionRules.withdraw, revisionRules.author],
    params: ofOne,
    body: withdrawal,
    handler: withdraw,
  }),
];
