/** A plan of a rollout as a file: read, and its faults named by the line in which they stand. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { isDocument } from '../model/document';
import type { Context } from './context';
import { readDocument } from './documents';
import { CliFault, stop } from './faults';

export type PlanFile = {
  readonly document: Readonly<Record<string, unknown>>;
  /** The same fault, with file and line where it is about something that the file holds. */
  readonly placed: (fault: unknown) => unknown;
};

/** Where the key, or the item, of this name stands in a node of a document, and what it holds. */
const stepInto = (node: unknown, name: string): { readonly at: number; readonly value: unknown } | undefined => {
  const start = (one: unknown): number | undefined => (one as Node | null)?.range?.[0];
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
    const at = pair && start(pair.key);
    return at === undefined ? undefined : { at, value: pair?.value };
  }
  const item = isSeq(node) ? node.items[Number(name)] : undefined;
  const at = start(item);
  return at === undefined ? undefined : { at, value: item };
};

/** Names of what a refusal of the API is about: a key that it does not know, or the path of a field. */
const namesIn = (text: string): string[] => {
  const [, unknown] = /^Unexpected arguments: ([\w.-]+)/.exec(text) ?? [];
  if (unknown !== undefined) return [unknown];
  const [, path, field] = /^([\w.-]+): (?:has no field ([\w.-]+))?/.exec(text) ?? [];
  return path === undefined ? [] : [...path.split('.'), ...(field === undefined ? [] : [field])];
};

/** The offset of the innermost of these names that the file holds; undefined where it has not even the first. */
const offsetOf = (root: unknown, names: readonly string[]): number | undefined => {
  let found: number | undefined;
  let node = root;
  for (const name of names) {
    const next = stepInto(node, name);
    if (!next) break;
    found = next.at;
    node = next.value;
  }
  return found;
};

/** Throws CliFault (usage) where it is no plan. */
export const readPlanFile = ({ deps }: Context, file: string): PlanFile => {
  const { value: document, root, lineAt } = readDocument(deps, file);
  if (!isDocument(document)) return stop('usage', `${file} does not hold the keys and values of a plan.`);
  const placed = (thrown: unknown): unknown => {
    if (!(thrown instanceof CliFault) || thrown.status !== 400) return thrown;
    const at = offsetOf(root, namesIn(thrown.message));
    if (at === undefined) return thrown;
    return new CliFault(thrown.exit, `${file}, line ${lineAt(at)}: ${thrown.message}`, thrown.status);
  };
  return { document, placed };
};
