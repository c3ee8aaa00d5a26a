/** Page markers that are record ids. */
import { type ErrorCode, isTemperError, raise } from '../../model/errors';

/**
 * The record after which a page begins; undefined without marker. Throws MarkerNotFound for missing and for hidden ones.
 * @param missing error of `find` for both; its other errors pass unchanged
 */
export const markedRecord = async <Row>(
  marker: string | undefined,
  missing: ErrorCode,
  find: (ident: string) => Promise<Row>,
): Promise<Row | undefined> => {
  if (marker === undefined) return undefined;
  try {
    return await find(marker);
  } catch (thrown) {
    return isTemperError(thrown, missing) ? raise('MarkerNotFound', { marker }) : Promise.reject(thrown);
  }
};
