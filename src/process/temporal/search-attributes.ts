/** The search attributes that the workflows write, made known to Temporal. */
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

// A frontend remembers for about a second that a namespace is not there, and looks for new ones every few seconds.
const pauseMs = 500;
const attempts = 20;

/** Asks again for up to ten seconds where the namespace is not known yet: it may have been made a moment ago. */
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
 * Registers those that the namespace lacks, and returns their names.
 *
 * Throws ConfigFault where a file of the settings cannot be read, Error where the namespace does not exist, and
 * the client's own errors where Temporal does not answer.
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
