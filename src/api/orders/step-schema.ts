/** A step on the wire: what a provision request and a runbook may say of one, with the bounds that both share. */
import { z } from 'zod';
import { failureChoices, stepInterfaces } from '../../model/lifecycle/step-types';
import { document, flag } from '../resource/validation';

const day = 86_400;

/** The one key of ours in a step; anything else in it is refused. */
const settings = z.strictObject({
  timeout: z.int().min(1).max(day).optional(),
  retry: z.strictObject({ attempts: z.int().min(1).max(1_000) }).optional(),
  on_failure: z.enum(failureChoices).optional(),
});

const maxOrder = 999_999_999;
const error = `must be a whole number from 0 to ${maxOrder}`;

const order = z.union(
  [
    z.int().min(0, { error }).max(maxOrder, { error }),
    z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number),
  ],
  { error },
);

const stepKeys = { interface: z.enum(stepInterfaces), step: z.string().min(1).max(255), temper: settings.optional() };

/** A clean or service step as a provision request carries it. */
export const requestStep = z.strictObject({
  ...stepKeys,
  args: document.optional(),
  order: order.optional(),
  execute_on_child_nodes: flag.optional(),
  limit_child_node_execution: z.array(z.string()).optional(),
});

/** A step of a deployment, which runs by its priority. */
export const deployStep = z.strictObject({ ...stepKeys, args: document, priority: order });

/** A step as a runbook carries it. */
export const runbookStep = z.strictObject({ ...stepKeys, args: document.default({}), order });
