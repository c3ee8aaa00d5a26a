/** Any JSON value. */
export type Json = unknown;

export type Document = Readonly<Record<string, unknown>>;

export const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value if it is an object, otherwise `{}`. For foreign documents, in which every key may be missing. */
export const asDocument = (value: unknown): Document => (isDocument(value) ? value : {});
