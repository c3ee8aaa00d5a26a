/** Bounds what is under way at once by a key, such as an address or a URL. */

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
