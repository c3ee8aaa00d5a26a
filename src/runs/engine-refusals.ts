/** Temporal's permanent refusals, as opposed to a server that is away. */
import { ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';

// gRPC status codes of permanent refusals.
const refusals = new Set([3, 8, 9, 11]); // INVALID_ARGUMENT, RESOURCE_EXHAUSTED (too large), FAILED_PRECONDITION, OUT_OF_RANGE

const causeOf = (thrown: unknown): { code?: unknown; details?: unknown } =>
  thrown instanceof ServiceError ? ((thrown.cause ?? {}) as { code?: unknown; details?: unknown }) : {};

/** False if Temporal is away. A missing namespace refuses every request. */
export const isRefusal = (thrown: unknown): boolean =>
  thrown instanceof NamespaceNotFoundError || refusals.has(Number(causeOf(thrown).code));

/** Temporal's text; for a missing namespace the client's text without the error's name. */
export const refusalOf = (thrown: unknown): string =>
  thrown instanceof NamespaceNotFoundError
    ? `namespace ${thrown.namespace} is not there`
    : String(causeOf(thrown).details ?? thrown).slice(0, 300);

// temporalio/temporal:common/util.go "Blob data size exceeds limit", "exceeds size limit"; grpc-go "message larger than max".
const tooLarge = /too large|larger than max|size exceeds|exceeds size/i;

/** False for refusals that pass, such as those of a busy server. */
export const isTooLarge = (refusal: string): boolean => tooLarge.test(refusal);
