/** Why a run would not be accepted on a node: one code for each kind of reason, whatever the error's own text. */
import { type ErrorCode, errors, type TemperError } from '../errors';
import { shortText } from '../texts';

/** `frozen` and `leased` keep no single run from being accepted; a plan for many nodes decides about them. */
export const verdictCodes = [
  'rule',
  'trait',
  'state',
  'maintenance',
  'held',
  'no_worker',
  'step_unsupported',
  'parameter',
  'retired',
  'protected',
  'node_incomplete',
  'origin',
  'withdrawn',
  'quota',
  'request',
  'frozen',
  'leased',
  'firmware_current',
] as const;

type VerdictCode = (typeof verdictCodes)[number];

const byError: Partial<Record<ErrorCode, VerdictCode>> = {
  PolicyDenied: 'rule',
  PolicyDeniedFor: 'rule',
  RunbookTraitMissing: 'trait',
  InvalidState: 'state',
  NodeInMaintenance: 'maintenance',
  NodeLocked: 'held',
  NoWorker: 'no_worker',
  ParameterInvalid: 'parameter',
  InvalidSteps: 'step_unsupported',
  InvalidStepArgs: 'step_unsupported',
  RamdiskNeeded: 'step_unsupported',
  DriverUnsupported: 'step_unsupported',
  NodeRetired: 'retired',
  NodeProtected: 'protected',
  DriverInfoInvalid: 'node_incomplete',
  InstanceInfoInvalid: 'node_incomplete',
  OriginRefused: 'origin',
  RevisionWithdrawn: 'withdrawn',
  QuotaExceeded: 'quota',
  InvalidInput: 'request',
  NotAcceptable: 'request',
  Conflict: 'request',
  NodeFrozen: 'frozen',
  FirmwareCurrent: 'firmware_current',
};

/** One reason for which a run would not be accepted, or would not begin at once. */
export type Refusal = {
  readonly code: VerdictCode;
  readonly error: ErrorCode;
  /** HTTP status with which the request itself is refused. */
  readonly status: number;
  /** The rule that refuses, where one does. */
  readonly rule?: string;
  /** For the caller, as the request itself would have it. */
  readonly reason: string;
};

/**
 * Of a reason: it may quote what came, which is as long as a body, and a plan for many nodes holds one for each. The longest that a
 * table makes names all steps of a driver, and has 1,100 characters.
 */
const longestReason = 2_000;

/** Undefined for what says nothing of the node and the request: a missing object, a store that does not answer. */
export const refusalOf = ({ code: error, facts, message }: TemperError): Refusal | undefined => {
  const code = byError[error];
  if (code === undefined) return undefined;
  const rule = code === 'rule' ? { rule: String(facts.rule) } : {};
  return { code, error, status: errors[error].status, ...rule, reason: shortText(message, longestReason) };
};
