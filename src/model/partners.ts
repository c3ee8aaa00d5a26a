/** Which members of two lists are the same ones, if a name may stand in a list more than once. Pure. */

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
 * For each member of a list, its place in the list before; undefined if it was not there. Members with the same first key are the same,
 * then those of the rest with the same next key. Several of one key are the same in the order of both lists.
 * @param before the keys of each member, as many for each
 * @param sure leaves out the members of a key that stands in one list more often than in the other
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
