/** Registers the workflows' search attributes in Temporal. */
import {
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  isRetryableError,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes';
import { attributes } from '../../workflows/contract';
import { connectionOptions, type TemporalSettings } from './client';

// https://grpc.github.io/grpc/core/md_doc_statuscodes.html
const notFound = 5;

// A frontend caches a missing namespace for a second, and refreshes its list every few seconds.
const pauseMs = 500;
const attempts = 20;

/** Retries a missing namespace for ten seconds: it may have just been created. */
const retrying = makeGrpcRetryInterceptor({
  ...defaultGrpcRetryOptions(),
  delayFunction: () => pauseMs,
  retryableDecider: (attempt, status) => attempt < attempts && (isRetryableError(status) || status.code === notFound),
});

const missingNamespace = (namespace: string, cause: unknown): Error =>
  new Error(
    `Temporal has no namespace ${namespace}: make it with` +
      ` \`temporal operator namespace create --namespace ${namespace} --retention 30d\`, and repeat this command.`,
    { cause },
  );

/**
 * Returns the names it has added. Throws ConfigFault for an unreadable file, Error without the namespace, and the
 * client's errors.
 */
export const registerSearchAttributes = async (settings: TemporalSettings): Promise<string[]> => {
  const namespace = settings.TEMPER_TEMPORAL_NAMESPACE;
  const connection = await Connection.connect({ ...connectionOptions(settings), interceptors: [retrying] });
  try {
    const known = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = Object.values(attributes).filter(({ name }) => !known.customAttributes?.[name]);
    for (const { name, type } of missing)
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: { [name]: encodeSearchAttributeIndexedValueType(type)! },
      });
    return missing.map(({ name }) => name);
  } catch (thrown) {
    throw isGrpcServiceError(thrown) && thrown.code === notFound ? missingNamespace(namespace, thrown) : thrown;
  } finally {
    await connection.close();
  }
};
