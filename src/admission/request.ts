/** Provision requests: body schema, verb, and the input of their checks. */
import { z } from 'zod';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { GivenStep } from '../model/lifecycle/step-types';
import type { Verb, VerbRow } from '../model/lifecycle/verbs';
import type { RunOrder } from '../runs/contract';
import type { Checks } from './checks';
import type { AdmissionContext } from './context';
import { configdrive } from './deploy';
import type { AuditContext } from './requester';
import { deployStep, document, flag, requestStep } from './schemas';

// No runbook has more parameters. The body limit bounds each value.
const mostValues = 100;

const word = z.string().min(1).max(255);
export const firmwareBaseline = z.strictObject({
  vendor: word.optional(),
  model: word.optional(),
  components: z
    .record(word, z.strictObject({ version: word, url: z.string().min(1).max(4_096) }))
    .refine((given) => Object.keys(given).length > 0, { error: 'must name at least one component' }),
});

export const parameterValues = document.refine((given) => Object.keys(given).length <= mostValues, {
  error: `must hold at most ${mostValues} values`,
});

/** The only key of Temper in a request. */
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
  // Hashing time grows with the length, and no login program accepts more.
  rescue_password: z.string().max(512).optional(),
  temper: ofTemper.optional(),
});

export type ProvisionBody = z.output<typeof provisionBody>;

/** An earlier run, and the steps of it that the new run takes up. */
export type Resumed = NonNullable<RunOrder['resumes']> & {
  readonly steps: readonly GivenStep[];
  readonly parameters: Readonly<Record<string, unknown>> | null;
};

export type ProvisionAsked = AuditContext & {
  readonly version: number;
  readonly body: ProvisionBody;
  /** The reason to run a private runbook on a node of another project. */
  readonly reason?: string;
  /** Its steps are planned in place of those of the body and the runbook. */
  readonly resumed?: Resumed;
};

export type WantedVerb = { readonly verb: Verb; readonly row: VerbRow; readonly rule: string };

export type Admission = {
  readonly ctx: AdmissionContext;
  readonly request: ProvisionAsked;
  readonly node: NodeRow;
  readonly ident: string;
  readonly checks: Checks;
};
