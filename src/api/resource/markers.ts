/** Markers of pages that are the id of a record. */
import { type ErrorCode, isTemperError, raise } from '../../model/errors';

/**
 * The record after which a page begins; undefined where the request names none. Throws MarkerNotFound alike for missing and hidden ones.
 * @param missing what `find` throws for these; all else that it throws is no fault of the marker's
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
