/** Catalogue of a node's steps with their arguments. */

import { equipped } from '../../../admission/requested-steps';
import { visibleNode } from '../../../admission/visibility';
import type { StepRow } from '../../../model/lifecycle/step-types';
import {
  type ActName,
  type ActTimeout,
  actRow,
  type Effect,
  nameOf,
  reservedSteps,
  stepsOf,
} from '../../../model/lifecycle/steps';
import { maxMinor } from '../../../model/resources/microversions';
import { nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/runs';
import type { ApiContext } from '../../context';
import { type ApiRequest, ok, route } from '../../server/route';

const stepsRule = 'temper:node:steps';

// Most careful last: a step has the most careful effect of its acts.
const effects: readonly Effect[] = ['read', 'converge', 'once'];
const timeouts: readonly ActTimeout[] = ['power', 'soft power', 'start', 'job'];

const last = <T>(order: readonly T[], found: readonly (T | undefined)[]): T | null =>
  order.filter((one) => found.includes(one)).at(-1) ?? null;

const actsOf = (names: readonly ActName[]) => {
  const rows = names.map(actRow);
  return {
    acts: names.map((act, at) => ({ act, effect: rows[at]!.effect, description: rows[at]!.says })),
    /** `once`: a repetition may harm, so it has no automatic retry. Null for steps of the run itself. */
    effect: last(
      effects,
      rows.map((row) => row.effect),
    ),
    /** Longest wait of its acts; null if each returns at once. */
    timeout: last(
      timeouts,
      rows.map((row) => row.timeout),
    ),
  };
};

const stepView = (row: StepRow, { settings }: ApiContext) => ({
  interface: row.interface,
  step: row.step,
  description: row.says,
  verbs: row.verbs,
  /** Above 0: part of automated cleaning. */
  priority: row.priority,
  args: row.args,
  ...actsOf(row.acts),
  abortable: row.abortable,
  may_park: row.parks,
  /** True if the step boots the ramdisk. */
  ramdisk: row.ramdisk ?? false,
  /** False: the operator forbids it. */
  allowed: !settings.disallowedSteps.includes(nameOf(row)),
  reserved: false,
});

const reserved = Object.entries(reservedSteps).map(([step, row]) => ({
  interface: null,
  step,
  description: row.says,
  verbs: ['clean', 'service', 'deploy'],
  priority: 0,
  args: row.args,
  ...actsOf(row.acts),
  abortable: true,
  may_park: false,
  ramdisk: false,
  allowed: true,
  reserved: true,
}));

export const stepRoutes = [
  route({
    method: 'GET',
    path: '/temper/v1/nodes/:node/steps',
    answers: { 200: shapes.stepCatalogue },
    rules: ['baremetal:node:get', stepsRule],
    async handler(request: ApiRequest<{ node: string }>, ctx) {
      const node = await visibleNode(ctx, { who: request.who, version: maxMinor }, request.params.node);
      ctx.policy().require(stepsRule, request.who, nodeTarget(node));
      const rows = stepsOf(await equipped(ctx, node));
      return ok({ driver: node.driver, steps: [...rows.map((row) => stepView(row, ctx)), ...reserved] });
    },
  }),
];
