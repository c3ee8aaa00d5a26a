/** The steps of a runbook: their order, their names, and which stored step a given one stands for. */
import { maskSecrets, secretRefs } from '../access/secrets';
import { canonicalJson } from '../digests';
import { raise } from '../errors';
import type { StepInterface, StepSettings } from '../lifecycle/step-types';
import { maxSteps, nameOf } from '../lifecycle/steps';
import { partners } from '../partners';

/** A step as a runbook stores it; secrets in `args` are references. `temper` is ours. */
export type RunbookStep = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly order: number;
  readonly args: Readonly<Record<string, unknown>>;
  readonly temper?: StepSettings;
};

/**
 * Steps as they run and are listed: by `order`, and by position if that is equal. A list that is in order already is given back as it
 * is: plans of many nodes bind its parameters once.
 */
export const inOrder = <Step extends { order: number }>(steps: readonly Step[]): readonly Step[] =>
  steps.every(({ order }, at) => at === 0 || steps[at - 1]!.order <= order)
    ? steps
    : steps.toSorted((one, other) => one.order - other.order);

/** Refuses more steps than a run takes. Throws InvalidSteps. */
export const checkRunbookSteps = (steps: readonly RunbookStep[]): void => {
  if (steps.length > maxSteps)
    raise('InvalidSteps', { reason: `A runbook has at most ${maxSteps} steps; ${steps.length} came.` });
};

type Named = Pick<RunbookStep, 'interface' | 'step'>;

/** How texts name each step: with its place if another has its name. */
export const labelsOf = (steps: readonly Named[]): string[] => {
  const names = steps.map(nameOf);
  const once = (name: string): boolean => names.indexOf(name) === names.lastIndexOf(name);
  return names.map((name, at) => (once(name) ? name : `${name} (place ${at + 1})`));
};

/** What a step is known by: a secret that it holds, else what callers see of its arguments, else its name. */
const keysOf = (step: RunbookStep, at: number | undefined): readonly string[] => [
  at === undefined ? 'no secret' : String(at),
  `${nameOf(step)} ${canonicalJson(maskSecrets(step.args))}`,
  nameOf(step),
];

/**
 * Each given step beside the stored one that it stands for, whatever place it has moved to. Of several with one name it is the one whose
 * secrets it refers to, else the one with the arguments that the caller saw, else the one of its place among the rest; none if that
 * leaves a doubt, because a mask would bring another step's secret.
 */
export const withStored = (
  given: readonly RunbookStep[],
  stored: readonly RunbookStep[],
): { readonly step: RunbookStep; readonly before: RunbookStep | undefined }[] => {
  const holders = new Map(stored.flatMap((step, at) => secretRefs(step.args).map((id) => [id, at] as const)));
  const holderOf = (step: RunbookStep): number | undefined => {
    const at = secretRefs(step.args)
      .flatMap((id) => holders.get(id) ?? [])
      .at(0);
    return at !== undefined && nameOf(stored[at]!) === nameOf(step) ? at : undefined;
  };
  const places = partners(
    stored.map((step, at) => keysOf(step, at)),
    given.map((step) => keysOf(step, holderOf(step))),
    { sure: true },
  );
  return given.map((step, at) => ({ step, before: places[at] === undefined ? undefined : stored[places[at]] }));
};
