/** The one key of ours that a step on the wire may carry, parsed. */
import { z } from 'zod';
import { failureChoices } from '../model/steps';

const day = 86_400;

/** `temper: {timeout, retry, on_failure}`; anything else in it is refused. */
export const stepSettings = z.strictObject({
  timeout: z.int().min(1).max(day).optional(),
  retry: z.strictObject({ attempts: z.int().min(1).max(1_000) }).optional(),
  on_failure: z.enum(failureChoices).optional(),
});
