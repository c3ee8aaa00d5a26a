/** Input of one decision, and templates filled from it. */

import type { Mode, RemoteQuestion } from '../types';
import { EvaluationFault } from './paths';
import { brokenPart, type Template } from './template';
import { textOf } from './text';

export type CheckFacts = {
  readonly credentials: Readonly<Record<string, unknown>>;
  readonly target: Readonly<Record<string, unknown>>;
  /** Second lookup of missing keys: the caller's credentials, if enabled. */
  readonly also?: Readonly<Record<string, unknown>>;
  /** The rule being enforced, for remote checks. */
  readonly rule: string;
  readonly remote?: (question: RemoteQuestion) => string;
  /** Current depth of `rule:` references. */
  depth: number;
};

/** Reads a key of the target. Only own keys count. */
export const lookUp = (facts: Pick<CheckFacts, 'target' | 'also'>, key: string): unknown => {
  const value = Object.hasOwn(facts.target, key) ? facts.target[key] : undefined;
  if (value !== undefined || !facts.also) return value;
  return Object.hasOwn(facts.also, key) ? facts.also[key] : undefined;
};

export type Fill = (facts: CheckFacts) => string | undefined;

/** A missing value is never comparable; a null value is in `compat`. */
const usable = (value: unknown, mode: Mode): boolean => value !== undefined && (value !== null || mode === 'compat');

/** The result returns undefined if a key is missing (or null, in `strict`). */
export const compileTemplate = (template: Template, mode: Mode): Fill => {
  const { constant, only, parts } = template;
  if (constant !== undefined) return () => constant;
  if (only !== undefined)
    return (facts) => {
      const value = lookUp(facts, only);
      return usable(value, mode) ? textOf(value) : undefined;
    };
  const broken = brokenPart(template);
  return (facts) => {
    let text = '';
    for (const part of parts) {
      if ('text' in part) text += part.text;
      else if ('broken' in part) throw new EvaluationFault(`${template.source}: ${broken}`);
      else {
        const value = lookUp(facts, part.key);
        if (!usable(value, mode)) return undefined;
        text += textOf(value);
      }
    }
    return text;
  };
};
