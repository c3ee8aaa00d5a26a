/** Bounds what is under way at once by a key, such as an address or a URL: what is beyond is turned away, or waits in order. */

export type Turnstile = {
  /** Takes a place; false where this key has all of its places. */
  enter(key: string): boolean;
  leave(key: string): void;
};

/** @param most places of each key; a key without a place taken needs no memory */
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

/** Gives a place back, or leaves the line; harmless to repeat. */
export type Leave = () => void;

export type Turns<Key> = {
  /** Begins at once where the key has a place and nothing waits, and otherwise when its turn comes. */
  take(key: Key, begin: (leave: Leave) => void): Leave;
};

/** How much of one key begins before all else has its turn. */
export type Pace = {
  readonly now: () => number;
  /** Milliseconds; of 0 one begins. */
  readonly slice: () => number;
  /** Calls when the process has read what came meanwhile. */
  readonly later: (call: () => void) => void;
};

type Line = {
  inside: number;
  /** When the first of this slice began; undefined where none has. */
  since: number | undefined;
  readonly waiting: Set<() => void>;
};

/**
 * The same with a line. `p-limit` does not let go of work that waits, so that what comes and leaves would fill its line.
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
