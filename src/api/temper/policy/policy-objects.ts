/** Policy targets of objects: node, run, runbook or allocation. */

import { z } from 'zod';
import { findVisibleRunbook, visibleNode } from '../../../admission/visibility';
import type { Caller } from '../../../model/access/callers';
import { maxMinor } from '../../../model/resources/microversions';
import { allocationTarget, nodeTarget, runbookTarget, type Target } from '../../../policy';
import type { ApiContext } from '../../context';
import { findVisibleAllocation } from '../../v1/allocations/visibility';
import { targetOfRun, visibleRun } from '../runs/runs';

export const policyName = z.string().min(1).max(255);

const objectKinds = ['node', 'run', 'runbook', 'allocation'] as const;
type ObjectKind = (typeof objectKinds)[number];
type NamedObjects = Partial<Record<ObjectKind, string>>;

/** At most one object may be named. */
export const objectFields = {
  rule: policyName,
  node: policyName.optional(),
  run: policyName.optional(),
  runbook: policyName.optional(),
  allocation: policyName.optional(),
};

/** Visibility rules of objects, checked before the requested rule. */
export const objectRules = [
  'baremetal:node:get',
  'temper:run:get',
  'baremetal:runbook:get',
  'baremetal:allocation:get',
] as const;

/** Throws its NotFound, also for hidden objects. */
const finds: Readonly<Record<ObjectKind, (ctx: ApiContext, who: Caller, ident: string) => Promise<Target>>> = {
  node: async (ctx, who, ident) => nodeTarget(await visibleNode(ctx, { who, version: maxMinor }, ident)),
  run: async (ctx, who, ident) => {
    const { run, node } = await visibleRun(ctx, who, ident);
    return targetOfRun(run, node);
  },
  runbook: async (ctx, who, ident) => runbookTarget(await findVisibleRunbook(ctx, who, ident)),
  allocation: async (ctx, who, ident) => allocationTarget(await findVisibleAllocation(ctx, who, ident)),
};

export const kindsNamed = (given: NamedObjects): ObjectKind[] =>
  objectKinds.filter((kind) => given[kind] !== undefined);

/** Empty without a named object. Throws the NotFound of its kind. */
export const objectTarget = async (ctx: ApiContext, who: Caller, given: NamedObjects): Promise<Target> => {
  const [kind] = kindsNamed(given);
  return kind === undefined ? {} : finds[kind](ctx, who, given[kind]!);
};
