/** A provision request as the orders see it: its parsed body, and the verb that it comes to. */
import { z } from 'zod';
import type { Verb, VerbRow } from '../../model/lifecycle/verbs';
import type { AuditContext } from '../audit/record';
import type { ApiRequest } from '../http/route';
import { document, flag } from '../resource/validation';
import type { NodeParams } from '../v1/nodes/node-route';
import { configdrive } from './deploy';
import { deployStep, requestStep } from './step-schema';

// No runbook has more parameters; a body is bounded by itself.
const mostValues = 100;

const word = z.string().min(1).max(255);
export const firmwareBaseline = z.strictObject({
  vendor: word.optional(),
  model: word.optional(),
  components: z
    .record(word, z.strictObject({ version: word, url: z.string().min(1).max(4_096) }))
    .refine((given) => Object.keys(given).length > 0, { error: 'must name at least one component' }),
});

/** Values of a runbook's parameters, by name. */
export const parameterValues = document.refine((given) => Object.keys(given).length <= mostValues, {
  error: `must hold at most ${mostValues} values`,
});

/** The one key of ours in a request, as in a step. */
const ofTemper = z.strictObject({
  parameters: parameterValues.optional(),
  baseline: z.array(firmwareBaseline).min(1).max(mostValues).optional(),
});

export const provisionBody = z.strictObject({
  target: z.string(),
  configdrive: configdrive.nullish(),
  clean_steps: z.array(requestStep).optional(),
  service_steps: z.array(requestStep).optional(),
  deploy_steps: z.array(deployStep).optional(),
  runbook: z.string().min(1).optional(),
  disable_ramdisk: flag.nullish(),
  // Hashing takes longer the longer it is, and no login program takes more.
  rescue_password: z.string().max(512).optional(),
  temper: ofTemper.optional(),
});

export type ProvisionBody = z.output<typeof provisionBody>;

/** What an admission needs to know of a request. */
export type ProvisionAsked = AuditContext & {
  /** The request's minor version. */
  readonly version: number;
  readonly body: ProvisionBody;
  /** Why a private runbook is run on a node of another project. */
  readonly reason?: string;
};

export type ProvisionRequest = ApiRequest<NodeParams, unknown, ProvisionBody>;

/** A request, resolved: the verb, its row, and the rule that decides about it. */
export type WantedVerb = { readonly verb: Verb; readonly row: VerbRow; readonly rule: string };
