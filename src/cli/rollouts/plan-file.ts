/** A rollout's plan in a file, with faults located by line. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { isDocument } from '../../model/document';
import type { Context } from '../context';
import { CliFault, stop } from '../faults';
import { readDocument } from '../runbooks/documents';

export type PlanFile = {
  readonly document: Readonly<Record<string, unknown>>;
  /** Adds file and line if the fault concerns a key of the file. */
  readonly placed: (fault: unknown) => unknown;
};

/** Finds a key or an item in a node of the document. */
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

/** From a refusal of the API: an unknown key, or the path of a field. */
const namesIn = (text: string): string[] => {
  const [, unknown] = /^Unexpected arguments: ([\w.-]+)/.exec(text) ?? [];
  if (unknown !== undefined) return [unknown];
  const [, path, field] = /^([\w.-]+): (?:has no field ([\w.-]+))?/.exec(text) ?? [];
  return path === undefined ? [] : [...path.split('.'), ...(field === undefined ? [] : [field])];
};

/** Offset of the innermost name in the file; undefined if the first is absent. */
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

/** Throws CliFault (usage) if the file holds no plan. */
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
