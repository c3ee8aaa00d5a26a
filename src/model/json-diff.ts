/** What changed between two JSON values, as a JSON patch. Pure. */
import { isDocument, type Json } from './document';
import { partners } from './partners';

export type Change =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Beyond so many characters of a path the value there is replaced as a whole: a path stands in each change below it, and the keys that
 * it is made of may be as long as a body. The deepest path in a step of the catalogue has 60.
 */
const longestPath = 400;

/** What identifies a member of a list: the name of a BIOS setting, a component of firmware or a step. */
const nameOfMember = (member: Json): string | undefined => {
  if (!isDocument(member)) return undefined;
  const { interface: of, step, name, component } = member;
  if (typeof of === 'string' && typeof step === 'string') return `step ${of}.${step}`;
  if (typeof name === 'string') return `name ${name}`;
  return typeof component === 'string' ? `component ${component}` : undefined;
};

/** What a member holds, but for the number of a step, which changes with each step before it. */
const heldBy = (member: Json): string => {
  const { order: _, ...held } = isDocument(member) ? member : { member };
  return JSON.stringify(held);
};

/** By what members are the same: by all that they hold, then by name. */
const keysOf = (member: Json): readonly [string, string] => {
  const held = heldBy(member);
  return [held, nameOfMember(member) ?? `value ${held}`];
};

/** Positions of a longest part of these numbers that increases. */
const longestIncreasing = (numbers: readonly number[]): number[] => {
  // By length, the position where the smallest end of an increasing part of that length is.
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const [position, value] of numbers.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]!]! < value) low = middle + 1;
      else high = middle;
    }
    previous[position] = ends[low - 1];
    ends[low] = position;
  }
  const found: number[] = [];
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) found.push(at);
  return found.reverse();
};

type Pair = readonly [before: number, after: number];

/** The members that both lists hold, in the order that both have them in. */
const inBoth = (before: readonly (readonly string[])[], after: readonly (readonly string[])[]): Pair[] => {
  const both = partners(before, after).flatMap((at, place): Pair[] => (at === undefined ? [] : [[at, place]]));
  return longestIncreasing(both.map(([at]) => at)).map((position) => both[position]!);
};

/**
 * What both lists hold, with the end of both behind it. Of several members with one name, those that hold the same are the same; if
 * they are so in another order, the members are taken by name alone.
 */
const keptOf = (before: readonly Json[], after: readonly Json[]): Pair[] => {
  const [was, is] = [before.map(keysOf), after.map(keysOf)];
  const names = (keys: typeof was) => keys.map(([, name]) => [name]);
  const [held, named] = [inBoth(was, is), inBoth(names(was), names(is))];
  return [...(held.length >= named.length ? held : named), [before.length, after.length]];
};

/** Whether one may have become the other: both have no name, so that a comparison of what is in them says more than a replacement. */
const mayBeSame = (one: Json, other: Json): boolean =>
  nameOfMember(one) === undefined && nameOfMember(other) === undefined;

class Changes {
  readonly found: Change[] = [];

  any(before: Json, after: Json, path: string): void {
    const inner = path.length <= longestPath;
    if (inner && Array.isArray(before) && Array.isArray(after)) this.lists(before, after, path);
    else if (inner && isDocument(before) && isDocument(after)) this.objects(before, after, path);
    else if (before !== after && JSON.stringify(before) !== JSON.stringify(after))
      this.found.push({ op: 'replace', path, value: after });
  }

  private objects(before: Readonly<Record<string, Json>>, after: Readonly<Record<string, Json>>, path: string): void {
    const below = (key: string) => `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const has = (of: object, key: string) => Object.hasOwn(of, key) && (of as Record<string, Json>)[key] !== undefined;
    for (const key of Object.keys(before))
      if (has(before, key) && !has(after, key)) this.found.push({ op: 'remove', path: below(key) });
    for (const key of Object.keys(after))
      if (!has(after, key)) continue;
      else if (has(before, key)) this.any(before[key], after[key], below(key));
      else this.found.push({ op: 'add', path: below(key), value: after[key] });
  }

  /** What lies between members that both hold is compared place by place; an index is that in the list as changed so far. */
  private lists(before: readonly Json[], after: readonly Json[], path: string): void {
    let [was, is] = [0, 0];
    for (const [keptBefore, keptAfter] of keptOf(before, after)) {
      for (; was < keptBefore && is < keptAfter; was++, is++)
        if (mayBeSame(before[was], after[is])) this.any(before[was], after[is], `${path}/${is}`);
        else this.found.push({ op: 'replace', path: `${path}/${is}`, value: after[is] });
      for (; was < keptBefore; was++) this.found.push({ op: 'remove', path: `${path}/${is}` });
      for (; is < keptAfter; is++)
        this.found.push({ op: 'add', path: `${path}/${was === before.length ? '-' : is}`, value: after[is] });
      if (was < before.length) this.any(before[was++], after[is], `${path}/${is++}`);
    }
  }
}

/**
 * The changes that make one value of another. Members of lists are compared by name, so that this takes time and room in proportion
 * to both values, whatever they hold; what it finds is right, and not always the shortest.
 */
export const changesBetween = (before: Json, after: Json): Change[] => {
  const changes = new Changes();
  changes.any(before, after, '');
  return changes.found;
};
