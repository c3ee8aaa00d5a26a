/** Times on the wire. */

/** In ISO 8601, UTC; null where there is none. */
export const isoTime = (time: Date | null): string | null => time?.toISOString() ?? null;
