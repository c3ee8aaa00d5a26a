/** Limits concurrent work per key, such as an address or a URL. Excess work is refused or queued. */

export type Turnstile = {
  /** False if all places of the key are taken. */
  enter(key: string): boolean;
  leave(key: string): void;
};

/** @param most places of each key; an unused key takes no memory */
export const createTurnstile = (most: number): Turnstile => {
  const inside = new Map<string, number>();
  return {
    enter: (key) => {
      const now = inside.get(key) ?? 0;
      if (now >= most) return false;
      inside.set(key, now + 1);
      return true;
    },
    leave: (key) => {
      const left = (inside.get(key) ?? 1) - 1;
      if (left > 0) inside.set(key, left);
      else inside.delete(key);
    },
  };
};

/** Gives a place back or leaves the queue; idempotent. */
export type Leave = () => void;

export type Turns<Key> = {
  /** Begins at once if a place is free and nothing waits; otherwise in turn. */
  take(key: Key, begin: (leave: Leave) => void): Leave;
};

/** Limits how long one key's work may begin before the process does other work. */
export type Pace = {
  readonly now: () => number;
  /** Milliseconds; with 0 one begins per slice. */
  readonly slice: () => number;
  /** Calls after pending input was read. */
  readonly later: (call: () => void) => void;
};

type Line = {
  inside: number;
  since: number | undefined;
  readonly waiting: Set<() => void>;
};

/**
 * `p-limit` cannot drop waiting work, so abandoned work would fill its queue.
 * @param most places of each key
 */
export const createTurns = <Key>(most: number, { now, slice, later }: Pace): Turns<Key> => {
  const lines = new Map<Key, Line>();

  const hasRoom = ({ inside, since }: Line): boolean =>
    inside < most && (since === undefined || now() - since < slice());

  const beginNext = (key: Key, line: Line): void => {
    for (const next of line.waiting) {
      if (!hasRoom(line)) return;
      next();
    }
    if (line.inside === 0 && line.since === undefined) lines.delete(key);
  };

  const openSlice = (key: Key, line: Line): void => {
    line.since = now();
    later(() => {
      line.since = undefined;
      beginNext(key, line);
    });
  };

  return {
    take(key, begin) {
      const line = lines.get(key) ?? { inside: 0, since: undefined, waiting: new Set() };
      lines.set(key, line);
      let isInside = false;
      const enter = (): void => {
        line.waiting.delete(enter);
        line.inside += 1;
        isInside = true;
        if (line.since === undefined) openSlice(key, line);
        begin(leave);
      };
      const leave = (): void => {
        if (!isInside) return void line.waiting.delete(enter);
        isInside = false;
        line.inside -= 1;
        if (line.since === undefined) openSlice(key, line);
      };
      if (line.waiting.size === 0 && hasRoom(line)) enter();
      else line.waiting.add(enter);
      return leave;
    },
  };
};
