/** The ways in which one sender asks more than it may. */

export type Flood = {
  readonly port: number;
  readonly path: string;
  readonly way: keyof typeof ways;
  readonly seconds: number;
};

export type Way = {
  readonly connections: number;
  /** Bytes that the client sends on a new connection. */
  readonly first: (asked: string) => string;
  /** Bytes that the client sends after each answer; nothing if absent. */
  readonly heard?: (asked: string) => string;
  /** Bytes that the client sends ten times a second; nothing if absent. */
  readonly drip?: string;
};

// The client opens closed connections again, up to this number.
export const ways = {
  pipelining: { connections: 8, first: (asked) => asked.repeat(1_000) },
  connections: { connections: 1_200, first: (asked) => asked, heard: (asked) => asked },
  'half-open': { connections: 2_500, first: () => '' },
  drips: { connections: 1_000, first: () => 'GET / HTTP/1.1\r\n', drip: 'x' },
} as const satisfies Record<string, Way>;

export const floodWays = Object.keys(ways) as (keyof typeof ways)[];
