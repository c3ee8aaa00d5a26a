/** Times on the wire. */

/** ISO 8601 in UTC. */
export const isoTime = <Time extends Date | null>(time: Time) =>
  (time?.toISOString() ?? null) as Time extends null ? null : string;
