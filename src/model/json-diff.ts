/** The difference of two JSON values as a JSON patch. Pure. */
import { isDocument, type Json } from './document';
import { partners } from './partners';

export type Change =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Characters. Below a longer path the value is replaced as a whole. Each change repeats its path, and a key may be as long as a body.
 * The catalogue's deepest path has 60.
 */
const longestPath = 400;

/** The name of a BIOS setting, a firmware component or a step. */
const nameOfMember = (member: Json): string | undefined => {
  if (!isDocument(member)) return undefined;
  const { interface: of, step, name, component } = member;
  if (typeof of === 'string' && typeof step === 'string') return `step ${of}.${step}`;
  if (typeof name === 'string') return `name ${name}`;
  return typeof component === 'string' ? `component ${component}` : undefined;
};

/** Ignores `order`, because an inserted step changes the numbers of all later ones. */
const heldBy = (member: Json): string => {
  const { order: _, ...held } = isDocument(member) ? member : { member };
  return JSON.stringify(held);
};

/** Members match by their whole content, then by name. */
const memberKeys = (member: Json): readonly [string, string] => {
  const held = heldBy(member);
  return [held, nameOfMember(member) ?? `value ${held}`];
};

/** Positions of a longest increasing subsequence. */
const longestIncreasing = (numbers: readonly number[]): number[] => {
  // By length, the position of the smallest end of such a subsequence.
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

/** Leaves out moved members. */
const inBoth = (before: readonly (readonly string[])[], after: readonly (readonly string[])[]): Pair[] => {
  const both = partners(before, after).flatMap((at, place): Pair[] => (at === undefined ? [] : [[at, place]]));
  return longestIncreasing(both.map(([at]) => at)).map((position) => both[position]!);
};

/** Ends with a pair for the end of both lists. Among members with one name, equal content matches first, unless their order differs. */
const keptOf = (before: readonly Json[], after: readonly Json[]): Pair[] => {
  const [was, is] = [before.map(memberKeys), after.map(memberKeys)];
  const names = (keys: typeof was) => keys.map(([, name]) => [name]);
  const [held, named] = [inBoth(was, is), inBoth(names(was), names(is))];
  return [...(held.length >= named.length ? held : named), [before.length, after.length]];
};

/** If neither has a name, comparing contents is more useful than a replacement. */
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

  /** Compares members between two kept ones by position. An index refers to the list as changed so far. */
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

/** Matching by name keeps time and memory proportional to both values. The patch is correct, but not always the shortest. */
export const changesBetween = (before: Json, after: Json): Change[] => {
  const changes = new Changes();
  changes.any(before, after, '');
  return changes.found;
};
