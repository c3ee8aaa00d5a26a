/** Times on the wire. */

/** ISO 8601 in UTC. */
export const isoTime = (time: Date | null): string | null => time?.toISOString() ?? null;
