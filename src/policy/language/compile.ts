/** Compiles check trees to closures, once per rule set. */

import type { Mode } from '../types';
import type { Check } from './check';
import { type CheckFacts, compileTemplate, type Fill, lookUp } from './facts';
import type { CheckKind } from './kinds';
import { anyAtPath, EvaluationFault } from './paths';
import type { Template } from './template';
import { textOf } from './text';

export type Decide = (facts: CheckFacts) => boolean;

/** Filled on compilation, so rules may refer to one another in any order. */
export type Slot = { run: Decide };

/** The address of a remote check needs a missing key. The nearest `rule:` above makes this false. */
export class MissingKey extends EvaluationFault {}

/** Longer chains of references count as a cycle. */
export const maxDepth = 200;

const compileRole = (match: Template, mode: Mode): Decide => {
  const fill = compileTemplate(match, mode);
  const fixed = match.constant?.toLowerCase();
  return (facts) => {
    const wanted = fixed ?? fill(facts)?.toLowerCase();
    const roles = facts.credentials.roles;
    if (wanted === undefined || roles === undefined) return false;
    if (!Array.isArray(roles)) throw new EvaluationFault('the credentials hold no list of roles');
    let has = false;
    for (const role of roles) {
      if (typeof role !== 'string') throw new EvaluationFault('a role is not a text');
      if (role.toLowerCase() === wanted) has = true;
    }
    return has;
  };
};

/** Compares texts as oslo.policy does. */
const compareTexts = (kind: CheckKind, fill: Fill): Decide => {
  if (kind.is === 'literal') return (facts) => fill(facts) === kind.text;
  if (kind.is === 'invalid')
    return (facts) => {
      if (fill(facts) === undefined) return false;
      throw new EvaluationFault(`"${kind.source}" is neither a literal nor the name of a credential`);
    };
  return (facts) => {
    const wanted = fill(facts);
    return wanted !== undefined && anyAtPath(facts.credentials, kind.path, (value) => textOf(value) === wanted);
  };
};

/** In `strict`, a null credential matches no text made from a target. */
const compareTextsNotNull = (kind: CheckKind, fill: Fill): Decide =>
  kind.is !== 'path'
    ? compareTexts(kind, fill)
    : (facts) => {
        const wanted = fill(facts);
        if (wanted === undefined) return false;
        return anyAtPath(facts.credentials, kind.path, (value) => value !== null && textOf(value) === wanted);
      };

const compileCompare = (kind: CheckKind, match: Template, mode: Mode): Decide => {
  const fill = compileTemplate(match, mode);
  if (mode === 'compat' || match.keys.length === 0) return compareTexts(kind, fill);
  const { only } = match;
  // The literal `None` matches null itself, not the text "None".
  if (only !== undefined && kind.is === 'literal' && kind.value === null)
    return (facts) => lookUp(facts, only) === null;
  return compareTextsNotNull(kind, fill);
};

const compileHttp = (scheme: string, match: Template): Decide => {
  const fill = compileTemplate(match, 'compat');
  return (facts) => {
    if (!facts.remote) return false;
    const rest = fill(facts);
    if (rest === undefined) throw new MissingKey(`a key of ${scheme}:${match.source} is missing in the target`);
    const { rule, target, credentials } = facts;
    const body = facts.remote({ url: `${scheme}:${rest}`, rule, target: { ...facts.also, ...target }, credentials });
    return body.replace(/^"+|"+$/g, '') === 'True';
  };
};

const compileRule = (slot: Slot | undefined): Decide => {
  if (!slot) return () => false;
  return (facts) => {
    facts.depth += 1;
    if (facts.depth > maxDepth) throw new EvaluationFault(`references deeper than ${maxDepth}: probably a cycle`);
    try {
      return slot.run(facts);
    } catch (thrown) {
      if (thrown instanceof MissingKey) return false;
      throw thrown;
    } finally {
      facts.depth -= 1;
    }
  };
};

const compileMany = (parts: readonly Check[], mode: Mode, slotOf: SlotOf, until: boolean): Decide => {
  const decides = parts.map((part) => compileCheck(part, mode, slotOf));
  return (facts) => {
    for (const decide of decides) if (decide(facts) === until) return until;
    return !until;
  };
};

/** Finds a rule's place by name, and falls back to the default rule. */
export type SlotOf = (name: string) => Slot | undefined;

/** The closure throws EvaluationFault if oslo.policy would raise. */
export const compileCheck = (check: Check, mode: Mode, slotOf: SlotOf): Decide => {
  switch (check.is) {
    case 'true':
      return () => true;
    case 'false':
      return () => false;
    case 'and':
      return compileMany(check.all, mode, slotOf, false);
    case 'or':
      return compileMany(check.any, mode, slotOf, true);
    case 'not': {
      const decide = compileCheck(check.of, mode, slotOf);
      return (facts) => !decide(facts);
    }
    case 'rule':
      return compileRule(slotOf(check.name));
    case 'role':
      return compileRole(check.match, mode);
    case 'compare':
      return compileCompare(check.kind, check.match, mode);
    case 'http':
      return compileHttp(check.scheme, check.match);
  }
};
