/** The steps of a runbook: their order, what may repeat, and how a masked value that comes back keeps what is stored. */
import { raise } from './errors';
import { isSecretRef, masked, maskSecrets, secretRefs } from './secrets';
import { isReserved, maxSteps, type StepInterface } from './steps';

/** A step as a runbook stores it; secrets in `args` are references. `temper` is ours. */
export type RunbookStep = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly order: number;
  readonly args: Readonly<Record<string, unknown>>;
  readonly temper?: StepSettings;
};

/** What only Temper understands of a step. */
export type StepSettings = {
  /** Seconds after which the step counts as failed. */
  readonly timeout?: number;
};

const called = (step: { interface: string; step: string }): string => `${step.interface}.${step.step}`;

/** Steps as they run and are listed: by `order`, and by position where that is equal. */
export const inOrder = <Step extends { order: number }>(steps: readonly Step[]): Step[] =>
  steps
    .map((step, position) => ({ step, position }))
    .sort((a, b) => a.step.order - b.step.order || a.position - b.position)
    .map(({ step }) => step);

/**
 * Refuses more steps than a run takes, and a pair of interface and step that comes twice. The original refuses every
 * duplicate; here the reserved steps (power_on, wait, ...) may repeat, because a second pause is no mistake.
 * Throws InvalidSteps.
 */
export const checkRunbookSteps = (steps: readonly RunbookStep[]): void => {
  if (steps.length > maxSteps)
    raise('InvalidSteps', { reason: `A runbook has at most ${maxSteps} steps; ${steps.length} came.` });
  const seen = new Set<string>();
  for (const step of steps.filter((one) => !isReserved(one.step))) {
    if (seen.has(called(step)))
      raise('InvalidSteps', { reason: `Step ${called(step)} comes twice; a runbook may hold each step once.` });
    seen.add(called(step));
  }
};

/** Names each step by interface, step and how often that pair came before, so that reserved steps keep apart. */
const keyed = (steps: readonly RunbookStep[]): (readonly [string, RunbookStep])[] => {
  const counts = new Map<string, number>();
  return steps.map((step) => {
    const nth = counts.get(called(step)) ?? 0;
    counts.set(called(step), nth + 1);
    return [`${called(step)}#${nth}`, step] as const;
  });
};

type Json = unknown;
const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The item of a stored list that an item of a given list stands for: by `name` where it has one, else by position. */
const counterpart = (item: Json, index: number, stored: readonly Json[]): Json =>
  isObject(item) && typeof item.name === 'string'
    ? stored.find((other) => isObject(other) && other.name === item.name)
    : stored[index];

const keepIn = (given: Json, stored: Json): Json => {
  if (typeof given === 'string')
    return given.includes(masked) && stored !== undefined && maskSecrets(stored) === given ? stored : given;
  if (Array.isArray(given))
    return given.map((item, index) => keepIn(item, counterpart(item, index, Array.isArray(stored) ? stored : [])));
  if (!isObject(given) || isSecretRef(given)) return given;
  const before = isObject(stored) ? stored : {};
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      keepIn(value, Object.hasOwn(before, key) ? before[key] : undefined),
    ]),
  );
};

// Alone, or where a text shows `password=******`.
const maskInText = /^\*{6}$|[=:]\s*\*{6}/;
const holdsMask = (value: Json): boolean =>
  (typeof value === 'string' && maskInText.test(value)) ||
  (Array.isArray(value) ? value.some(holdsMask) : isObject(value) && Object.values(value).some(holdsMask));

/**
 * The given steps, with the stored value wherever a masked one came back: a client that reads, edits and writes a runbook
 * loses no secret. Matched by interface, step and path. Throws InvalidSteps where a mask stands for nothing, or where a
 * reference to a secret came that this runbook does not hold.
 */
export const keepMasked = (given: readonly RunbookStep[], stored: readonly RunbookStep[]): RunbookStep[] => {
  const before = new Map(keyed(stored));
  const own = new Set(secretRefs(stored));
  return keyed(given).map(([key, step]) => {
    const args = keepIn(step.args, before.get(key)?.args) as RunbookStep['args'];
    if (holdsMask(args))
      raise('InvalidSteps', {
        reason: `Step ${called(step)}: ${masked} stands for a stored secret, and there is none at that place; send the value itself.`,
      });
    if (secretRefs(args).some((id) => !own.has(id)))
      raise('InvalidSteps', { reason: `Step ${called(step)}: an object with the single key $secret is reserved.` });
    return { ...step, args };
  });
};
