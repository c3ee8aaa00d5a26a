/** Explains a decision as a tree, with the verdict, the compared values and the origin of each part. */

import { messageOf } from '../../model/errors';
import { type Check, printCheck } from '../language/check';
import { compileCheck, MissingKey, maxDepth, type SlotOf } from '../language/compile';
import { type CheckFacts, compileTemplate } from '../language/facts';
import { anyAtPath } from '../language/paths';
import type { Template } from '../language/template';
import { textOf } from '../language/text';
import type { ActiveRule, Explain, Mode, Part, PartVerdict, Provenance, RemoteQuestion } from '../types';
import { type Credentials, normalise } from './credentials';
import { admitsScope, scopeOfCredentials } from './scopes';

type ExplainedRules = {
  readonly rules: ReadonlyMap<string, ActiveRule>;
  readonly ruleFor: (name: string) => ActiveRule | undefined;
  readonly mode: Mode;
  readonly remote: ((question: RemoteQuestion) => string) | undefined;
  readonly slotOf: SlotOf;
};

const provenanceOf = ({ name, from, oldName, admitsOld, origin }: ActiveRule): Provenance => ({
  rule: name,
  from,
  ...(oldName === undefined ? {} : { oldName }),
  ...(admitsOld ? { admitsOld } : {}),
  ...(origin ? { origin } : {}),
});

type ExplainContext = CheckFacts & { readonly known: ExplainedRules; readonly aside?: true };

const filled = ({ known, ...facts }: ExplainContext, match: Template): string | null => {
  try {
    return compileTemplate(match, known.mode)(facts) ?? null;
  } catch {
    return null;
  }
};

type Comparing = Extract<Check, { readonly is: 'role' | 'compare' }>;

const callerSide = ({ credentials }: ExplainContext, check: Comparing): readonly string[] => {
  if (check.is === 'role') return Array.isArray(credentials.roles) ? credentials.roles.map(textOf) : [];
  if (check.kind.is === 'invalid') return [];
  if (check.kind.is === 'literal') return [check.kind.text];
  const found: string[] = [];
  try {
    anyAtPath(credentials, check.kind.path, (value) => {
      found.push(textOf(value));
      return false;
    });
  } catch {
    return found;
  }
  return found;
};

const comparedIn = (asked: ExplainContext, check: Check): Pick<Part, 'compared'> =>
  check.is === 'role' || check.is === 'compare'
    ? { compared: { caller: callerSide(asked, check), wanted: filled(asked, check.match) } }
    : {};

/** A check without parts. The closure is the one that decides requests. */
const leaf = (asked: ExplainContext, check: Check): Part => {
  if (asked.aside && check.is === 'http') return { is: check.is, text: printCheck(check), verdict: 'not asked' };
  const base = { is: check.is, text: printCheck(check), ...comparedIn(asked, check) };
  try {
    const met = compileCheck(check, asked.known.mode, asked.known.slotOf)(asked);
    return { ...base, verdict: met ? 'true' : 'false' };
  } catch (thrown) {
    const fault = messageOf(thrown);
    return { ...base, verdict: 'fault', fault };
  }
};

/** Evaluates parts that the decision did not reach, except remote checks. */
const aside = (asked: ExplainContext, check: Check): Part =>
  partOf({ ...asked, remote: undefined, aside: true }, check);

/** The first part that decides or cannot be evaluated sets the verdict. */
const several = (asked: ExplainContext, check: Check, of: readonly Check[], until: 'true' | 'false'): Part => {
  const parts: Part[] = [];
  let verdict: PartVerdict | undefined;
  for (const one of of) {
    const part = verdict === undefined ? partOf(asked, one) : aside(asked, one);
    parts.push(part);
    if (part.verdict === until || part.verdict === 'fault') verdict ??= part.verdict;
  }
  return { is: check.is, text: printCheck(check), verdict: verdict ?? (until === 'true' ? 'false' : 'true'), parts };
};

const negated = { true: 'false', false: 'true', fault: 'fault', 'not asked': 'not asked' } as const;

const reference = (asked: ExplainContext, check: Check & { is: 'rule' }): Part => {
  const base = { is: check.is, text: printCheck(check) };
  const rule = asked.known.ruleFor(check.name);
  if (!rule) return { ...base, verdict: 'false', to: null };
  const to = provenanceOf(rule);
  if (asked.depth >= maxDepth)
    return { ...base, verdict: 'fault', to, fault: `references deeper than ${maxDepth}: probably a cycle` };
  const part = partOf({ ...asked, depth: asked.depth + 1 }, rule.check);
  // Behind a reference, a remote check whose address lacks a key is false.
  const verdict = part.verdict === 'fault' && isMissingKey(asked, check) ? 'false' : part.verdict;
  return { ...base, verdict, to, parts: [part] };
};

const isMissingKey = (asked: ExplainContext, check: Check & { is: 'rule' }): boolean => {
  try {
    return !compileCheck(check, asked.known.mode, asked.known.slotOf)(asked);
  } catch (thrown) {
    return thrown instanceof MissingKey;
  }
};

const partOf = (asked: ExplainContext, check: Check): Part => {
  switch (check.is) {
    case 'and':
      return several(asked, check, check.all, 'false');
    case 'or':
      return several(asked, check, check.any, 'true');
    case 'not': {
      const part = partOf(asked, check.of);
      return { is: check.is, text: printCheck(check), verdict: negated[part.verdict], parts: [part] };
    }
    case 'rule':
      return reference(asked, check);
    default:
      return leaf(asked, check);
  }
};

export const explainWith =
  (known: ExplainedRules): Explain =>
  ({ rule: name, credentials: given, target, fallBack }) => {
    const credentials: Credentials = normalise(given);
    const rule = known.ruleFor(name);
    const scope = { caller: scopeOfCredentials(credentials), admitted: rule?.name === name ? rule.scopes : null };
    if (!rule) return { rule: name, verdict: 'refused', why: 'unknown', scope, from: null, tree: null };
    const { remote } = known;
    const also = fallBack ? credentials : undefined;
    const tree = partOf({ credentials, target, also, rule: name, remote, depth: 0, known }, rule.check);
    const base = { rule: name, scope, from: provenanceOf(rule), tree };
    if (rule.name === name && !admitsScope(rule, credentials)) return { ...base, verdict: 'refused', why: 'scope' };
    if (tree.verdict === 'true') return { ...base, verdict: 'allowed' };
    return { ...base, verdict: 'refused', why: tree.verdict === 'fault' ? 'fault' : 'check' };
  };

/** Counts true checks on the object: an alternative about the caller's own objects is nearer than others. */
const fitsOf = (part: Part): number =>
  part.parts
    ? part.parts.reduce((sum, one) => sum + fitsOf(one), 0)
    : Number(part.verdict === 'true' && part.text.includes('%('));

/** The fewest checks that must change for a part to be true; empty if it is. A failed `not` is returned whole. */
export const nearestTo = (part: Part): readonly Part[] => {
  if (part.verdict === 'true') return [];
  const parts = part.parts ?? [];
  if (parts.length === 0 || part.is === 'not') return [part];
  if (part.is !== 'or') return parts.flatMap(nearestTo);
  const ways = parts.map((one) => ({ missing: nearestTo(one), fits: fitsOf(one) }));
  const better = (one: (typeof ways)[number], other: typeof one): boolean => {
    const more = one.missing.length - other.missing.length;
    return more < 0 || (more === 0 && one.fits >= other.fits);
  };
  return ways.reduce((best, other) => (better(other, best) ? other : best)).missing;
};
