/** Merges an operator's file into the registered rules, deprecated names included. */

import { type Check, printCheck } from '../language/check';
import { parseRule } from '../language/parse';
import type { ActiveRule, Origin, RegisteredRule } from '../types';

type Written = ReturnType<typeof parseRule> & { readonly origin?: Origin };
type File = ReadonlyMap<string, Written>;

/** Undefined if the text equals the old default or only refers to the new name. */
const fileTextOfOldName = (rule: RegisteredRule, file: File): Written | undefined => {
  const old = rule.deprecated;
  if (!old || old.name === rule.name) return undefined;
  const changed = file.get(old.name);
  if (!changed) return undefined;
  const print = printCheck(changed.check);
  return print === printCheck(parseRule(old.check).check) || print === `rule:${rule.name}` ? undefined : changed;
};

/** Cache: registered texts never change. */
const ours = new WeakMap<RegisteredRule, Check>();

const checkOf = (rule: RegisteredRule): Check => {
  const known = ours.get(rule);
  if (known) return known;
  const { check } = parseRule(rule.check);
  ours.set(rule, check);
  return check;
};

const defaultOf = (rule: RegisteredRule, newDefaults: boolean): Check => {
  const check = checkOf(rule);
  if (newDefaults || !rule.deprecated) return check;
  const old = parseRule(rule.deprecated.check).check;
  return printCheck(old) === printCheck(check) ? check : { is: 'or', any: [check, old] };
};

const activate = (rule: RegisteredRule, file: File, newDefaults: boolean): ActiveRule => {
  const base = { name: rule.name, scopes: rule.scopes, registered: true };
  const own = file.get(rule.name);
  if (own) return { ...base, ...own, from: 'file' };
  const old = fileTextOfOldName(rule, file);
  if (old) return { ...base, ...old, from: 'deprecated', oldName: rule.deprecated!.name };
  const admitsOld = !newDefaults && rule.deprecated !== undefined;
  return { ...base, check: defaultOf(rule, newDefaults), from: 'default', admitsOld, faults: [], refused: [] };
};

/** Rules in force by name, those that only the file defines included. */
export const mergeRules = (
  registered: readonly RegisteredRule[],
  overrides: Readonly<Record<string, unknown>>,
  newDefaults: boolean,
  origins: Readonly<Record<string, Origin>> = {},
): Map<string, ActiveRule> => {
  const originOf = (name: string) => (Object.hasOwn(origins, name) ? { origin: origins[name] } : {});
  const file: File = new Map(
    Object.entries(overrides).map(([name, value]) => [name, { ...parseRule(value), ...originOf(name) }]),
  );
  const active = new Map(registered.map((rule) => [rule.name, activate(rule, file, newDefaults)]));
  for (const [name, parsed] of file)
    if (!active.has(name)) active.set(name, { name, scopes: null, registered: false, from: 'file', ...parsed });
  return active;
};
