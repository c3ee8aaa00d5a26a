/** Several rules with objects at once, answered for the caller: for programs that offer only what is permitted. */
import { z } from 'zod';
import { isTemperError } from '../../model/errors';
import { maxMinor } from '../../model/resources/microversions';
import { tenantOf } from '../../model/rollouts/consent';
import { allocationTarget, nodeTarget, runbookTarget, type Target } from '../../policy';
import type { ApiContext } from '../context';
import { type ApiRequest, ok, type Route, route } from '../http/route';
import { visibleNode } from '../resource/visibility';
import { findVisibleAllocation } from '../v1/allocations/visibility';
import { findVisibleRunbook } from '../v1/runbooks/visibility';
import { visibleTarget } from './rollout-targets';
import { plannedTargetOf, rolloutRules, wholeRollout } from './rollout-views';
import { targetOfRun, visibleRun } from './runs';
import * as shapes from './shapes';

const name = z.string().min(1).max(255);
// A rollout comes first: a node beside it names one of its targets.
const targetKinds = ['rollout', 'node', 'run', 'runbook', 'allocation'] as const;
const namedIn = (given: Partial<Record<(typeof targetKinds)[number], string>>) =>
  targetKinds.filter((kind) => given[kind] !== undefined);
const ask = z
  .strictObject({
    rule: name,
    node: name.optional(),
    run: name.optional(),
    runbook: name.optional(),
    allocation: name.optional(),
    rollout: name.optional(),
  })
  .refine((given) => namedIn(given).length <= 1 || namedIn(given).join() === 'rollout,node', {
    error: 'name one of node, run, runbook, allocation and rollout, or a rollout with a node of it',
  });
type Ask = z.output<typeof ask>;
const mostAsks = 100;
/** Of the store's connections one caller gets no more than a few. */
const foundAtOnce = 4;
const canBody = z.strictObject({ asks: z.array(ask).min(1).max(mostAsks) });
type CanRequest = ApiRequest<unknown, unknown, z.output<typeof canBody>>;

type Find = (ctx: ApiContext, request: CanRequest, ident: string, asked: Ask) => Promise<Target>;

const finds: Readonly<Record<(typeof targetKinds)[number], Find>> = {
  rollout: async (ctx, { who }, rollout, { node }) => {
    if (node === undefined) return plannedTargetOf(ctx, await wholeRollout(ctx, who, rollout));
    const found = await visibleTarget(ctx, who, { rollout, node });
    return plannedTargetOf(ctx, found.rollout, tenantOf(found.target));
  },
  node: async (ctx, { who }, ident) => nodeTarget(await visibleNode(ctx, { who, version: maxMinor }, ident)),
  run: async (ctx, { who }, ident) => {
    const { run, node } = await visibleRun(ctx, who, ident);
    return targetOfRun(run, node);
  },
  runbook: async (ctx, { who }, ident) => runbookTarget(await findVisibleRunbook(ctx, who, ident)),
  allocation: async (ctx, { who }, ident) => allocationTarget(await findVisibleAllocation(ctx, who, ident)),
};

const hiddenCodes = ['NodeNotFound', 'RunNotFound', 'RunbookNotFound', 'AllocationNotFound', 'RolloutNotFound', 'PolicyDenied', 'InvalidInput'] as const; // biome-ignore format: one row of names

/** What an ask is about, in one word. */
const objectOf = ({ rule: _, ...named }: Ask): string => JSON.stringify(named);

const targetOf = async (ctx: ApiContext, request: CanRequest, asked: Ask): Promise<Target | undefined> => {
  const kind = targetKinds.find((one) => asked[one] !== undefined);
  if (kind === undefined) return {};
  try {
    return await finds[kind](ctx, request, asked[kind]!, asked);
  } catch (thrown) {
    if (hiddenCodes.some((code) => isTemperError(thrown, code))) return undefined;
    throw thrown;
  }
};

/** The objects of all asks, each read once; undefined for what is hidden or missing. */
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

const can = route<unknown, unknown, z.output<typeof canBody>>({
  method: 'POST',
  path: '/temper/v1/policy/can',
  answers: { 200: shapes.canAnswers },
  rules: [
    'baremetal:node:get',
    'temper:run:get',
    'baremetal:runbook:get',
    'baremetal:allocation:get',
    rolloutRules.get,
    rolloutRules.own,
  ],
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
