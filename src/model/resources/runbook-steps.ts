/** Steps of a runbook: order, names, and matching given steps with stored ones. */
import { maskSecrets, secretRefs } from '../access/secrets';
import { canonicalJson } from '../digests';
import { raise } from '../errors';
import type { StepInterface, StepSettings } from '../lifecycle/step-types';
import { maxSteps, nameOf } from '../lifecycle/steps';
import { partners } from '../partners';

/** Secrets in `args` are references. `temper` is not in Ironic's API. */
export type RunbookStep = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly order: number;
  readonly args: Readonly<Record<string, unknown>>;
  readonly temper?: StepSettings;
};

/** By `order`, then position. Returns an ordered list itself, because parameters are bound once per list object. */
export const inOrder = <Step extends { order: number }>(steps: readonly Step[]): readonly Step[] =>
  steps.every(({ order }, at) => at === 0 || steps[at - 1]!.order <= order)
    ? steps
    : steps.toSorted((one, other) => one.order - other.order);

/** Throws InvalidSteps. */
export const checkRunbookSteps = (steps: readonly RunbookStep[]): void => {
  if (steps.length > maxSteps)
    raise('InvalidSteps', { reason: `A runbook has at most ${maxSteps} steps; ${steps.length} came.` });
};

type Named = Pick<RunbookStep, 'interface' | 'step'>;

/** With the place if another step has the same name. */
export const labelsOf = (steps: readonly Named[]): string[] => {
  const names = steps.map(nameOf);
  const once = (name: string): boolean => names.indexOf(name) === names.lastIndexOf(name);
  return names.map((name, at) => (once(name) ? name : `${name} (place ${at + 1})`));
};

/** A secret that it holds, its masked arguments, its name. */
const keysOf = (step: RunbookStep, at: number | undefined): readonly string[] => [
  at === undefined ? 'no secret' : String(at),
  `${nameOf(step)} ${canonicalJson(maskSecrets(step.args))}`,
  nameOf(step),
];

/**
 * Matches given steps with stored ones by secrets, then by masked arguments, then by position among those of one name. A doubtful step
 * has no match, because its mask would restore another step's secret.
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
