/** Checks many rules at once, for clients that offer only permitted operations. */

import { z } from 'zod';
import type { Caller } from '../../../model/access/callers';
import { isTemperError } from '../../../model/errors';
import { tenantOf } from '../../../model/rollouts/consent';
import { disruptionTarget, rolloutTarget, type Target, webhookTarget, windowTarget } from '../../../policy';
import { plannedTargetOf } from '../../../rollouts/approvals';
import * as shapes from '../../../wire/policy';
import type { ApiContext } from '../../context';
import { type ApiRequest, ok, type Route, route } from '../../server/route';
import { visibleTarget } from '../rollouts/targets';
import { rolloutRules, wholeRollout } from '../rollouts/views';
import { kindsNamed, objectFields, objectRules, objectTarget, policyName } from './policy-objects';

const ask = z
  .strictObject({
    ...objectFields,
    rollout: policyName.optional(),
  })
  .refine(
    (given) =>
      given.rollout === undefined ? kindsNamed(given).length <= 1 : kindsNamed(given).every((kind) => kind === 'node'),
    {
      error: 'name one of node, run, runbook, allocation and rollout, or a rollout with a node of it',
    },
  );
type Ask = z.output<typeof ask>;
const mostAsks = 100;
/** Limits the database connections of one caller. */
const foundAtOnce = 4;
const canBody = z.strictObject({ asks: z.array(ask).min(1).max(mostAsks) });
type CanRequest = ApiRequest<unknown, unknown, z.output<typeof canBody>>;

/** Throws RolloutNotFound, NodeNotFound. */
const findRollout = async (ctx: ApiContext, who: Caller, rollout: string, node?: string): Promise<Target> => {
  if (node === undefined) return plannedTargetOf(ctx, await wholeRollout(ctx, who, rollout));
  const found = await visibleTarget(ctx, who, { rollout, node });
  return plannedTargetOf(ctx, found.rollout, tenantOf(found.target));
};

const hiddenCodes = ['NodeNotFound', 'RunNotFound', 'RunbookNotFound', 'AllocationNotFound', 'RolloutNotFound', 'PolicyDenied', 'InvalidInput'] as const; // biome-ignore format: one row of names

/** Without an object, records of the caller's own project are meant. */
const ownTarget = ({ project_id: project, user_id }: Caller): Target => ({
  ...windowTarget({ project }),
  ...webhookTarget({ project }),
  ...disruptionTarget({ project }),
  ...rolloutTarget({ project, requester: user_id }),
});

const isAboutNothing = ({ rollout, ...named }: Ask): boolean => rollout === undefined && kindsNamed(named).length === 0;

/** A key of the object. */
const objectOf = ({ rule: _, ...named }: Ask): string => JSON.stringify(named);

const targetOf = async (ctx: ApiContext, request: CanRequest, asked: Ask): Promise<Target | undefined> => {
  if (isAboutNothing(asked)) return ownTarget(request.who);
  try {
    // With a rollout, the node names one of its targets.
    return asked.rollout === undefined
      ? await objectTarget(ctx, request.who, asked)
      : await findRollout(ctx, request.who, asked.rollout, asked.node);
  } catch (thrown) {
    if (hiddenCodes.some((code) => isTemperError(thrown, code))) return undefined;
    throw thrown;
  }
};

/** Each object is read once; undefined if hidden or missing. */
const targetsOf = async (ctx: ApiContext, request: CanRequest): Promise<ReadonlyMap<string, Target | undefined>> => {
  const wanted = [...new Map(request.body.asks.map((asked) => [objectOf(asked), asked]))];
  const found = new Map<string, Target | undefined>();
  const readOn = async (): Promise<void> => {
    for (let next = wanted.pop(); next; next = wanted.pop()) found.set(next[0], await targetOf(ctx, request, next[1]));
  };
  await Promise.all(Array.from({ length: foundAtOnce }, readOn));
  return found;
};

const whyNot = (rule: string, says: string | undefined): string =>
  `The rule ${rule} does not admit you.${says === undefined ? '' : ` ${says}`}`;

const answerTo = (ctx: ApiContext, { who }: CanRequest, { rule }: Ask, target: Target | undefined) => {
  if (target === undefined) return { rule, allowed: false, reason: 'It does not exist, or you may not see it.' };
  const policy = ctx.policy();
  const allowed = policy.allows(rule, who, target);
  return { rule, allowed, reason: allowed ? null : whyNot(rule, policy.says(rule)) };
};

const can = route({
  method: 'POST',
  path: '/temper/v1/policy/can',
  answers: { 200: shapes.canAnswers },
  rules: [...objectRules, rolloutRules.get, rolloutRules.own],
  changesNothing: true,
  body: canBody,
  async handler(request, ctx) {
    const targets = await targetsOf(ctx, request);
    return ok({
      answers: request.body.asks.map((asked) => answerTo(ctx, request, asked, targets.get(objectOf(asked)))),
    });
  },
});

export const canRoutes: readonly Route[] = [can];
