/** Policy routes: explain decisions, compare a second policy, list past policies. */

import { z } from 'zod';
import { flag } from '../../../admission/schemas';
import { anonymous, type Caller, expandRoles } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { namesInList } from '../../../model/texts';
import { explainAnswer } from '../../../policy';
import * as shapes from '../../../wire/policy';
import { markedRecord, readPage } from '../../resource/own-pages';
import { pageLimit } from '../../resource/validation';
import { type ApiRequest, ok, type Route, route } from '../../server/route';
import { explanationFor } from './explanations';
import { kindsNamed, objectFields, objectRules, objectTarget, policyName } from './policy-objects';

const policyRule = 'temper:policy:explain';

const policyQuery = z
  .strictObject({
    ...objectFields,
    roles: policyName.optional(),
    project_id: policyName.optional(),
    admin_projects: z.string().max(4_096).optional(),
    system: flag.optional(),
  })
  .refine((given) => kindsNamed(given).length <= 1, {
    error: 'name one of node, run, runbook and allocation',
  });
type PolicyQuery = z.output<typeof policyQuery>;
type PolicyRequest = ApiRequest<unknown, PolicyQuery, unknown>;

/** The caller, or a system caller's hypothetical one. Throws PolicyDenied. */
const askedAbout = ({ who, query: { roles, project_id, admin_projects, system } }: PolicyRequest): Caller => {
  if (roles === undefined && project_id === undefined && admin_projects === undefined && !system) return who;
  if (!who.system_scope && !who.all_powerful) raise('PolicyDenied', { rule: policyRule });
  const known = { roles: expandRoles(namesInList(roles)), admin_projects: namesInList(admin_projects) };
  const scope = system ? { system_scope: 'all' } : { project_id: project_id ?? null, project_name: project_id ?? null };
  return { ...anonymous, ...known, strategy: who.strategy, ...scope };
};

const explain = route({
  method: 'GET',
  path: '/temper/v1/policy/explain',
  answers: { 200: shapes.explanation },
  rules: [policyRule, ...objectRules],
  query: policyQuery,
  async handler(request, ctx) {
    const target = await objectTarget(ctx, request.who, request.query);
    const policy = ctx.policy();
    policy.require(policyRule, request.who, target);
    const explanation = explainAnswer(policy, request.query.rule, askedAbout(request), target);
    return ok({ ...explanationFor(request.who, explanation, target), rule_set: policy.hash });
  },
});

const shadow = route({
  method: 'GET',
  path: '/temper/v1/policy/shadow',
  answers: { 200: shapes.shadow },
  rules: [policyRule],
  async handler({ who }, ctx) {
    ctx.policy().require(policyRule, who);
    return ok(ctx.shadow?.() ?? raise('NoShadowPolicy'));
  },
});

const readHistory = 'temper:policy:history';
const historyPath = '/temper/v1/policy/history';
const historyQuery = z.strictObject({
  hash: z
    .string()
    .regex(/^[0-9a-f]{1,64}$/, { error: 'must be the beginning of a hash: digits and a to f' })
    .optional(),
  limit: pageLimit,
  marker: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: 'must be the digest of a policy' })
    .optional(),
});

/** The texts are included only if the query names a hash. */
const historyRoute = route({
  method: 'GET',
  path: historyPath,
  answers: { 200: shapes.policyHistory },
  rules: [readHistory],
  query: historyQuery,
  async handler(request, { policy, inventory }) {
    const { hash, marker } = request.query;
    policy().require(readHistory, request.who);
    const known = async (digest: string) => ((await inventory.policyLoads.has(digest)) ? digest : undefined);
    const after = await markedRecord(marker, known);
    const { rows, next } = await readPage(
      request,
      historyPath,
      (limit) => inventory.policyLoads.list({ hash, limit, after }),
      ({ digest }) => digest,
    );
    const shown = rows.map(({ first_at, files, ...row }) => ({
      ...row,
      first_at: first_at.toISOString(),
      files: hash === undefined ? files.map(({ text: _text, ...file }) => file) : files,
    }));
    return ok({ history: shown, ...next });
  },
});

export const policyRoutes: readonly Route[] = [explain, shadow, historyRoute];
