/** Actions of inspection rules on a draft of the node, its ports and the inspection's data. Pure except for the draft. */
import { isDocument } from '../document';
import { fieldOf } from '../resources/fields';
import { isTrait, maxTraits, traitRefusal } from '../resources/traits';
import {
  type ActionOp,
  changedBy,
  namedArgs,
  pathFault,
  pathParts,
  type RuleDoc,
  type RuleStep,
  settable,
} from './rule-ops';
import { fillIn, itemsOf } from './rule-values';

type MutableDocument = Record<string, unknown>;

/** Changed in place. */
export type Draft = {
  /** Rules may read all attributes, but write only those of the table. */
  readonly node: MutableDocument;
  readonly ports: readonly (MutableDocument & { readonly uuid: string })[];
  readonly inventory: RuleDoc;
  readonly plugin_data: MutableDocument;
  traits: string[];
  readonly said: { readonly level: string; readonly msg: string }[];
};

/** An action fails the inspection. */
export class RuleSaysFail extends Error {}

/** The document with the last part of a path. `make` creates missing ones. */
const holderOf = (root: MutableDocument, parts: readonly string[], make: boolean): MutableDocument | undefined => {
  let holder = root;
  for (const part of parts.slice(0, -1)) {
    const next = Object.hasOwn(holder, part) ? holder[part] : undefined;
    if (isDocument(next)) holder = next;
    else if (next === undefined && make) holder = holder[part] = {} as MutableDocument;
    else if (make) throw new RangeError(`${part} is no document`);
    else return undefined;
  }
  return holder;
};

const put = (root: MutableDocument, path: unknown, value: unknown): void => {
  const parts = pathParts(path);
  holderOf(root, parts, true)![parts.at(-1)!] = value;
};

const extend = (root: MutableDocument, path: unknown, value: unknown, unique: unknown): void => {
  const parts = pathParts(path);
  const holder = holderOf(root, parts, true)!;
  const list = holder[parts.at(-1)!] ?? [];
  if (!Array.isArray(list)) throw new RangeError(`${String(path)} is no list`);
  const there = list.some((one) => JSON.stringify(one) === JSON.stringify(value));
  holder[parts.at(-1)!] = unique && there ? list : [...list, value];
};

const drop = (root: MutableDocument, path: unknown): void => {
  const parts = pathParts(path);
  const holder = holderOf(root, parts, false);
  if (holder) delete holder[parts.at(-1)!];
};

const portOf = ({ ports }: Draft, id: unknown) => {
  const found = ports.find(({ uuid, address }) => uuid === id || address === String(id).toLowerCase());
  if (!found) throw new RangeError(`the node has no port ${String(id)}`);
  return found;
};

/** `a:1,b:2`, as schedulers read them. */
const capabilitiesOf = ({ node }: Draft): Map<string, string> => {
  const { capabilities } = node.properties as MutableDocument;
  const pairs = String(capabilities ?? '')
    .split(',')
    .filter((pair) => pair.includes(':'))
    .map((pair) => [pair.slice(0, pair.indexOf(':')).trim(), pair.slice(pair.indexOf(':') + 1).trim()] as const);
  return new Map(pairs);
};

const setCapabilities = (draft: Draft, all: Map<string, string>): void => {
  (draft.node.properties as MutableDocument).capabilities = [...all]
    .map(([name, value]) => `${name}:${value}`)
    .join(',');
};

const longestText = 500;
const oneLine = (text: unknown): string =>
  String(text ?? '')
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .slice(0, longestText);

type RuleAction = (draft: Draft, args: RuleDoc) => void;

const ruleActions: Readonly<Record<ActionOp, RuleAction>> = {
  fail: (_, { msg }) => {
    throw new RuleSaysFail(oneLine(msg) || 'it gives no reason');
  },
  log: ({ said }, { msg, level }) => void said.push({ level: String(level ?? 'info'), msg: oneLine(msg) }),
  'set-attribute': ({ node }, { path, value }) => put(node, path, value),
  'extend-attribute': ({ node }, { path, value, unique }) => extend(node, path, value, unique),
  'del-attribute': ({ node }, { path }) => drop(node, path),
  'set-capability': (draft, { name, value }) =>
    setCapabilities(draft, capabilitiesOf(draft).set(String(name), String(value))),
  'unset-capability': (draft, { name }) => {
    const all = capabilitiesOf(draft);
    if (all.delete(String(name))) setCapabilities(draft, all);
  },
  'add-trait': (draft, { name }) => {
    if (!isTrait(String(name))) throw new RangeError(traitRefusal(String(name)));
    draft.traits = [...new Set([...draft.traits, String(name)])];
    if (draft.traits.length > maxTraits) throw new RangeError(`a node has at most ${maxTraits} traits`);
  },
  'remove-trait': (draft, { name }) => {
    draft.traits = draft.traits.filter((trait) => trait !== name);
  },
  'set-plugin-data': ({ plugin_data }, { path, value }) => put(plugin_data, path, value),
  'extend-plugin-data': ({ plugin_data }, { path, value, unique }) => extend(plugin_data, path, value, unique),
  'unset-plugin-data': ({ plugin_data }, { path }) => drop(plugin_data, path),
  'set-port-attribute': (draft, { port_id, path, value }) => put(portOf(draft, port_id), path, value),
  'extend-port-attribute': (draft, { port_id, path, value, unique }) =>
    extend(portOf(draft, port_id), path, value, unique),
  'del-port-attribute': (draft, { port_id, path }) => drop(portOf(draft, port_id), path),
};

/** Checks again after placeholders are filled in. */
const checkPath = (op: ActionOp, { path }: RuleDoc): void => {
  const of = changedBy[op];
  const fault = of && pathFault(of, path);
  if (fault) throw new RangeError(fault);
  if (pathParts(path).some((part) => ['__proto__', 'prototype', 'constructor'].includes(part)))
    throw new RangeError('it holds a part that no document may have');
};

const doOnce = (action: RuleStep, draft: Draft, item?: unknown): void => {
  const { inventory, plugin_data, node } = draft;
  const facts = { inventory, plugin_data, node: { ...node, traits: draft.traits } };
  const args = fillIn(
    namedArgs(action),
    item === undefined ? facts : { ...facts, item: fillIn(item, facts) },
  ) as RuleDoc;
  const op = action.op as ActionOp;
  if (args.path !== undefined) checkPath(op, args);
  ruleActions[op](draft, args);
};

/** Throws RuleSaysFail, and RangeError for an impossible action. */
export const doActions = (actions: readonly RuleStep[], draft: Draft): void => {
  for (const action of actions) {
    const items = itemsOf(action.loop);
    if (!items) doOnce(action, draft);
    else for (const item of items) doOnce(action, draft, item);
  }
};

const shortest: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => value === null || typeof value === 'string',
  boolean: (value) => value === null || typeof value === 'boolean',
  object: isDocument,
};

const largestDocument = 64 * 1024;

/** Checks an attribute after the rules. */
export const valueFault = (of: keyof typeof settable, name: string, value: unknown): string | undefined => {
  const { type, max = largestDocument } = fieldOf(settable[of].table, name)!;
  if (!shortest[type]!(value)) return `${name} cannot be ${oneLine(JSON.stringify(value)).slice(0, 80)}`;
  const length = typeof value === 'string' ? value.length : JSON.stringify(value).length;
  return length > max ? `${name} would be longer than ${max}` : undefined;
};
