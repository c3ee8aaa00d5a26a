/** Reasons why a node does not accept a run, one code for each kind. */
import { type ErrorCode, errors, type TemperError } from '../errors';
import { shortText } from '../texts';

/** `frozen` and `leased` never prevent the acceptance of a single run; a plan for many nodes decides about them. */
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
  InvalidImage: 'node_incomplete',
  OriginRefused: 'origin',
  RevisionWithdrawn: 'withdrawn',
  QuotaExceeded: 'quota',
  InvalidInput: 'request',
  NotAcceptable: 'request',
  Conflict: 'request',
  NodeFrozen: 'frozen',
  FirmwareCurrent: 'firmware_current',
};

/** The run would not be accepted, or would not begin at once. */
export type Refusal = {
  readonly code: VerdictCode;
  readonly error: ErrorCode;
  /** Of the request's refusal. */
  readonly status: number;
  /** The refusing rule, if any. */
  readonly rule?: string;
  /** As in an answer to the request itself. */
  readonly reason: string;
};

/**
 * Characters. It may quote input as long as a body, and a plan holds one for each node. The longest regular one has 1,100 and names all
 * steps of a driver.
 */
const longestReason = 2_000;

/** Undefined for errors not about the node and the request: a missing object, a failure of PostgreSQL. */
export const refusalOf = ({ code: error, facts, message }: TemperError): Refusal | undefined => {
  const code = byError[error];
  if (code === undefined) return undefined;
  const rule = code === 'rule' ? { rule: String(facts.rule) } : {};
  return { code, error, status: errors[error].status, ...rule, reason: shortText(message, longestReason) };
};
