/** Requests that the engine refuses for ever, as against an engine that is away. */
import { ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';

// gRPC status codes with which the server says that this very request will never do.
const refusals = new Set([3, 8, 9, 11]); // INVALID_ARGUMENT, RESOURCE_EXHAUSTED (too large), FAILED_PRECONDITION, OUT_OF_RANGE

const causeOf = (thrown: unknown): { code?: unknown; details?: unknown } =>
  thrown instanceof ServiceError ? ((thrown.cause ?? {}) as { code?: unknown; details?: unknown }) : {};

/** Whether the engine refused this request, rather than being away. A namespace that is not there refuses every request. */
export const isRefusal = (thrown: unknown): boolean =>
  thrown instanceof NamespaceNotFoundError || refusals.has(Number(causeOf(thrown).code));

/** The engine's own words for a refusal; of a missing namespace those of its client, without the error's name. */
export const refusalOf = (thrown: unknown): string =>
  thrown instanceof NamespaceNotFoundError
    ? `namespace ${thrown.namespace} is not there`
    : String(causeOf(thrown).details ?? thrown).slice(0, 300);

// temporalio/temporal:common/util.go "Blob data size exceeds limit", "exceeds size limit"; grpc-go "message larger than max".
const tooLarge = /too large|larger than max|size exceeds|exceeds size/i;

/** Whether a refusal is of this very request for ever, not of what the server lacks or is busy with now. */
export const isTooLarge = (refusal: string): boolean => tooLarge.test(refusal);
