/** Step schemas that provision requests and runbooks share. */
import { z } from 'zod';
import { failureChoices, stepInterfaces } from '../../model/lifecycle/step-types';
import { document, flag } from '../resource/validation';

const day = 86_400;

/** The only key of Temper in a step; others are refused. */
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

export const requestStep = z.strictObject({
  ...stepKeys,
  args: document.optional(),
  order: order.optional(),
  execute_on_child_nodes: flag.optional(),
  limit_child_node_execution: z.array(z.string()).optional(),
});

/** A deploy step, ordered by priority. */
export const deployStep = z.strictObject({ ...stepKeys, args: document, priority: order });

export const runbookStep = z.strictObject({ ...stepKeys, args: document.default({}), order });
