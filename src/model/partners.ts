/** Matches the members of two lists with repeated names. Pure. */

type Keys = readonly (readonly string[])[];

const placesByKey = (keys: Keys, nth: number, isFree: (place: number) => boolean): Map<string, number[]> => {
  const places = new Map<string, number[]>();
  for (const [place, { [nth]: key }] of keys.entries()) {
    if (!isFree(place)) continue;
    const same = places.get(key!);
    if (same) same.push(place);
    else places.set(key!, [place]);
  }
  return places;
};

/**
 * For each member of `after`, its index in `before`. Members match by their first key, the rest by the next key, and equal keys in the
 * order of both lists.
 * @param before the same number of keys for each
 * @param sure leaves a key unmatched if the lists have it in different numbers
 */
export const partners = (before: Keys, after: Keys, { sure = false } = {}): (number | undefined)[] => {
  const found: (number | undefined)[] = after.map(() => undefined);
  const taken = new Set<number>();
  for (const nth of (after[0] ?? []).keys()) {
    const had = placesByKey(before, nth, (place) => !taken.has(place));
    for (const [key, places] of placesByKey(after, nth, (place) => found[place] === undefined)) {
      const same = had.get(key) ?? [];
      if (sure && same.length !== places.length) continue;
      for (const [at, place] of same.slice(0, places.length).entries()) {
        found[places[at]!] = place;
        taken.add(place);
      }
    }
  }
  return found;
};
