/**
 * Open values of a runbook: parameters from a request, and choices by the node. Steps contain them as `{"$param": "name"}` and `{"$by":
 * "vendor", "dell inc.": ..., "default": ...}`, and planning resolves them. Pure.
 */

import { holdsSecrets, masked, maskSecrets, replaceSecrets } from '../access/secrets';
import { type Document, isDocument, type Json } from '../document';
import { raise } from '../errors';
import { jsonBytes, maxPlanBytes, PlanRoom } from '../lifecycle/plan-size';
import type { Attempt } from '../lifecycle/plan-steps';
import { meant } from '../nearest';
import { type ParameterSchema, valueFault } from './parameter-schema';
import { labelsOf, type RunbookStep } from './runbook-steps';

export type RunbookParameter = {
  readonly name: string;
  readonly description?: string;
  readonly schema: ParameterSchema;
  /** Without a default, the request must have a value. */
  readonly default?: Json;
  /** Masked in all output. */
  readonly secret?: boolean;
};

const choiceKeys = ['vendor', 'model', 'resource_class', 'trait'] as const;
type ChoiceKey = (typeof choiceKeys)[number];

/** Vendor and model come from an inspection. */
export type NodeFacts = {
  readonly vendor: string | null;
  readonly model: string | null;
  readonly resource_class: string | null;
  readonly traits: readonly string[];
};

const isChoice = (value: Document): boolean => Object.hasOwn(value, '$by');
const isParameter = (value: Document): boolean => Object.hasOwn(value, '$param');

export const leavesOpen = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some(leavesOpen);
  return isDocument(value) && (isChoice(value) || isParameter(value) || Object.values(value).some(leavesOpen));
};

const deepestChoice = 5;

const choiceFault = (choice: Document, depth: number): string | undefined => {
  const { $by: by, ...values } = choice;
  if (!choiceKeys.includes(by as ChoiceKey)) return `$by must be one of ${choiceKeys.join(', ')}`;
  if (depth >= deepestChoice) return `choices are nested deeper than ${deepestChoice} levels`;
  if (Object.keys(values).length === 0) return `the choice by ${String(by)} has no values`;
  for (const value of Object.values(values)) {
    const fault = openFault(value, depth + 1);
    if (fault) return fault;
  }
  return undefined;
};

const openFault = (value: Json, depth = 0): string | undefined => {
  if (Array.isArray(value)) return value.map((one) => openFault(one, depth)).find((fault) => fault !== undefined);
  if (!isDocument(value)) return undefined;
  if (isChoice(value)) return choiceFault(value, depth);
  if (isParameter(value))
    return Object.keys(value).length === 1 && typeof value.$param === 'string' && parameterName.test(value.$param)
      ? undefined
      : 'an object with $param has that key alone, with the name of a parameter';
  return Object.values(value)
    .map((one) => openFault(one, depth))
    .find((fault) => fault !== undefined);
};

/** Limited like the name of a PostgreSQL column. `constructor` is valid, because look-ups use own keys only. */
export const parameterName = /^[a-z][a-z0-9_]{0,62}$/;

/** A secret is bound to its place and could not be found at another. */
const choosesSecret = (document: Json): boolean => {
  let found = false;
  replaceSecrets(document, (value) => {
    found ||= isDocument(value) && isChoice(value);
    return value;
  });
  const within = (value: Json): boolean => {
    if (Array.isArray(value)) return value.some(within);
    if (!isDocument(value)) return false;
    if (!isChoice(value)) return Object.values(value).some(within);
    let sealed = false;
    replaceSecrets(value, (one) => {
      sealed = true;
      return one;
    });
    return sealed;
  };
  return found || within(document);
};

/** Throws InvalidSteps for values that no node can resolve. */
export const checkOpenArgs = (steps: readonly Pick<RunbookStep, 'interface' | 'step' | 'args'>[]): void => {
  const labels = labelsOf(steps);
  for (const [at, step] of steps.entries()) {
    const reason = choosesSecret(step.args)
      ? 'a secret cannot be chosen by $by; let a parameter bring it'
      : openFault(step.args);
    if (reason !== undefined) raise('InvalidSteps', { reason: `Step ${labels[at]}: ${reason}.` });
  }
};

type Bound = {
  readonly values: ReadonlyMap<string, Json>;
  /** Reasons for missing values. */
  readonly faults: ReadonlyMap<string, string>;
  readonly shown: Document;
};

type Parametrized = { readonly name: string; readonly parameters: readonly RunbookParameter[] };

const refuse = (runbook: string, parameter: string, reason: string): never =>
  raise('ParameterInvalid', { runbook, parameter: parameter.slice(0, 80), reason });

/** Keys with a dollar sign are reserved for references and open values. */
const bringsKeys = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some(bringsKeys);
  return isDocument(value) && Object.entries(value).some(([key, one]) => key.startsWith('$') || bringsKeys(one));
};

/** The fault never contains the value. */
export const parameterFault = (parameter: RunbookParameter, value: Json): string | undefined => {
  const bytes = jsonBytes(value);
  if (bytes > maxPlanBytes)
    return `has ${bytes} bytes, and a run carries at most ${maxPlanBytes}; give a shorter value`;
  return bringsKeys(value) ? 'must hold no key that begins with $' : valueFault(parameter.schema, value);
};

/** Parameters in place of a secret. */
const inSecretPlaces = (document: Json): Set<string> => {
  const names = new Set<string>();
  const mark = (value: Json): void => {
    if (isDocument(value) && isParameter(value)) names.add(String(value.$param));
    else if (isDocument(value) || Array.isArray(value)) Object.values(value).forEach(mark);
  };
  replaceSecrets(
    document,
    (value) => {
      mark(value);
      return value;
    },
    '',
    true,
  );
  return names;
};

const looksSecret = (name: string): boolean => holdsSecrets({ [name]: 'x' });

/** By declaration, by name or by place. */
const secretIn = (steps: readonly Pick<RunbookStep, 'args'>[]): ((parameter: RunbookParameter) => boolean) => {
  const places = inSecretPlaces(steps.map(({ args }) => args));
  return ({ name, secret }) => secret === true || places.has(name) || looksSecret(name);
};

/** The name of the first given value that must stay secret. */
export const secretGiven = (
  { parameters, steps }: { readonly parameters: readonly RunbookParameter[]; readonly steps: readonly RunbookStep[] },
  given: Document,
): string | undefined => {
  const isSecret = secretIn(steps);
  const declared = parameters.find((one) => Object.hasOwn(given, one.name) && isSecret(one));
  return declared?.name ?? Object.keys(given).find((name) => holdsSecrets({ [name]: given[name] }));
};

/** Throws ParameterInvalid. */
const bind = (
  { name, parameters }: Parametrized,
  steps: readonly RunbookStep[],
  given: Document,
  attempt: Attempt,
): Bound => {
  const values = new Map<string, Json>();
  const faults = new Map<string, string>();
  const names = parameters.map((one) => one.name);
  for (const unknown of Object.keys(given).filter((one) => !names.includes(one)))
    attempt(() =>
      refuse(
        name,
        unknown,
        `is not one of this runbook, which has ${names.join(', ') || 'none'}.${meant(unknown.slice(0, 80), names)}`,
      ),
    );
  for (const parameter of parameters) {
    const value = Object.hasOwn(given, parameter.name) ? given[parameter.name] : parameter.default;
    const fault = value === undefined ? 'is missing, and has no default' : parameterFault(parameter, value);
    if (fault) faults.set(parameter.name, fault);
    else values.set(parameter.name, value);
    if (fault) attempt(() => refuse(name, parameter.name, fault));
  }
  const isSecret = secretIn(steps);
  const shownValue = (one: RunbookParameter): Json => (isSecret(one) ? masked : maskSecrets(values.get(one.name)));
  const shown = parameters.filter((one) => values.has(one.name)).map((one) => [one.name, shownValue(one)] as const);
  return { values, faults, shown: Object.fromEntries(shown) };
};

const normal = (text: string): string => text.trim().toLowerCase();

/** Throws ParameterInvalid. */
const chosen = (runbook: string, { $by, ...values }: Document, node: NodeFacts): Json => {
  const by = $by as ChoiceKey;
  const has = (by === 'trait' ? node.traits : [node[by]]).filter((one) => one !== null);
  const fits = Object.keys(values).filter(
    (key) => key !== 'default' && has.some((one) => (by === 'trait' ? one === key : normal(one) === normal(key))),
  );
  if (fits.length > 1)
    refuse(
      runbook,
      `$by ${by}`,
      `cannot be chosen: the node fits ${fits.join(' and ')}, and nothing says which counts`,
    );
  if (fits.length === 1) return values[fits[0]!];
  if (Object.hasOwn(values, 'default')) return values.default;
  const found = has[0] === undefined ? 'an unknown one' : JSON.stringify(has[0]);
  const what = by === 'trait' ? 'has none of its traits' : `has ${found}`;
  return refuse(runbook, `$by ${by}`, `cannot be chosen: the node ${what}, and there is no default`);
};

type Resolving = {
  readonly runbook: string;
  readonly bound: Bound;
  readonly node: NodeFacts;
  /** Reduced before each value is built. */
  readonly room: PlanRoom;
  readonly bytesOf: (name: string) => number;
};

const boundValue = ({ runbook, bound, room, bytesOf }: Resolving, name: string): Json => {
  if (!bound.values.has(name))
    return refuse(runbook, name, bound.faults.get(name) ?? 'is used by a step, and not declared');
  room.take(bytesOf(name));
  return bound.values.get(name);
};

const resolve = (value: Json, by: Resolving): Json => {
  if (Array.isArray(value)) {
    by.room.take(2 + value.length);
    return value.map((one) => resolve(one, by));
  }
  if (!isDocument(value)) {
    by.room.take(jsonBytes(value));
    return value;
  }
  if (isChoice(value)) return resolve(chosen(by.runbook, value, by.node), by);
  if (isParameter(value)) return boundValue(by, String(value.$param));
  by.room.take(2);
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      by.room.take(jsonBytes(key) + 2);
      return [key, resolve(one, by)];
    }),
  );
};

/** Measures each value once, however often steps use it. */
const measured = ({ values }: Bound): ((name: string) => number) => {
  const known = new Map<string, number>();
  return (name) => {
    const bytes = known.get(name) ?? jsonBytes(values.get(name));
    known.set(name, bytes);
    return bytes;
  };
};

type BoundOnce = {
  readonly parameters: Parametrized['parameters'];
  readonly given: Document;
  readonly bound: Bound;
  readonly bytesOf: Resolving['bytesOf'];
};
const boundOnce = new WeakMap<readonly RunbookStep[], BoundOnce>();

/** Binds once per plan if nothing is refused: all its nodes share values and steps. */
const bindOnce = (
  runbook: Parametrized & { readonly steps: readonly RunbookStep[] },
  given: Document,
  attempt: Attempt,
): Pick<BoundOnce, 'bound' | 'bytesOf'> => {
  const { steps, parameters } = runbook;
  const before = boundOnce.get(steps);
  if (before && before.parameters === parameters && before.given === given) return before;
  let refused = false;
  const bound = bind(runbook, steps, given, (work) =>
    attempt(() => {
      refused = true; // bind calls attempt only for refusals
      return work();
    }),
  );
  const made = { parameters, given, bound, bytesOf: measured(bound) };
  if (!refused) boundOnce.set(steps, made);
  return made;
};

export type ResolvedSteps = {
  readonly steps: readonly RunbookStep[];
  /** With secrets masked; null for a runbook without parameters. */
  readonly parameters: Document | null;
};

/**
 * Resolves a runbook on one node. Throws ParameterInvalid, and InvalidSteps if too large for a run. If `attempt` catches a refusal, that
 * step is left out.
 * @param given values by name of the parameter
 */
export const resolveSteps = (
  runbook: Parametrized & { readonly steps: readonly RunbookStep[] },
  given: Document,
  node: NodeFacts,
  attempt: Attempt,
): ResolvedSteps => {
  const { name, parameters } = runbook;
  const { bound, bytesOf } = bindOnce(runbook, given, attempt);
  const by: Resolving = { runbook: name, bound, node, room: new PlanRoom(), bytesOf };
  const steps = runbook.steps
    .map((step) => attempt(() => ({ ...step, args: resolve(step.args, by) as RunbookStep['args'] })))
    .filter((step) => step !== undefined);
  return { steps, parameters: parameters.length === 0 ? null : bound.shown };
};
