/** Any JSON value. */
export type Json = unknown;

/** A JSON object, of which nothing but that is known. */
export type Document = Readonly<Record<string, unknown>>;

export const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Itself, or an empty one in the place of anything else: for readers of what others wrote, where every key may be missing. */
export const asDocument = (value: unknown): Document => (isDocument(value) ? value : {});
