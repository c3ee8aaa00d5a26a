/** A JSON object, of which nothing but that is known. */
export type Document = Readonly<Record<string, unknown>>;
