/** Counts how one BMC is treated: how many requests it has at once and how quickly they follow each other. */

/** What was seen since the rack started; logouts are left out, they may come at any time. */
export type Traffic = {
  readonly requests: number;
  /** The most that were under way at one moment. */
  readonly most_at_once: number;
  /** The most that were under way while a write or a login was one of them; 1 where writes are alone. */
  readonly most_beside_a_write: number;
  /** The most that arrived within any second. */
  readonly most_in_a_second: number;
};

export type TrafficCounter = {
  /** A request has arrived. @returns what is to be called when it has been answered */
  arrives(request: { readonly method: string; readonly path: string; readonly now: number }): () => void;
  look(): Traffic;
};

const isLogout = ({ method, path }: { method: string; path: string }): boolean =>
  method === 'DELETE' && path.includes('/SessionService/Sessions');

const secondMs = 1_000;

export const countTraffic = (): TrafficCounter => {
  const seen = { requests: 0, most_at_once: 0, most_beside_a_write: 0, most_in_a_second: 0 };
  let reads = 0;
  let writes = 0;
  let lately: number[] = [];

  return {
    arrives(request) {
      if (isLogout(request)) return () => undefined;
      const write = request.method !== 'GET' && request.method !== 'HEAD';
      if (write) writes += 1;
      else reads += 1;
      lately = [...lately.filter((at) => at > request.now - secondMs), request.now];
      seen.requests += 1;
      seen.most_at_once = Math.max(seen.most_at_once, reads + writes);
      if (writes > 0) seen.most_beside_a_write = Math.max(seen.most_beside_a_write, reads + writes);
      seen.most_in_a_second = Math.max(seen.most_in_a_second, lately.length);
      return () => {
        if (write) writes -= 1;
        else reads -= 1;
      };
    },
    look: () => ({ ...seen }),
  };
};
