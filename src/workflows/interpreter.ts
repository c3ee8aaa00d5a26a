/** Interpreter of steps: pure logic without Temporal, so that plain tests cover every branch. */

import type { Awaited, PlannedStep, ReportedStep } from '../model/lifecycle/step-types';
import { actRow, nameOf } from '../model/lifecycle/steps';
import type { ActOutcome, Within } from '../model/runs/runs';
import { Aborted, type Decided, type Effects, FailedByPerson } from './effects-contract';

/** Runs the steps from `from` on, and from `within` it after a lost execution. Throws Aborted, FailedByPerson, or an act's error. */
export const runSteps = async (
  given: readonly PlannedStep[],
  effects: Effects,
  from = 0,
  within?: Within,
): Promise<void> => {
  let steps = given;
  for (let at = from; at < steps.length; at++) {
    const step = steps[at]!;
    if (effects.abortAsked()) throw new Aborted();
    // A step that was under way when its execution was lost is finished before a pause.
    if (at > from || !within) await effects.unpaused(step);
    if (at > from && effects.cutsHistory()) await effects.goOn(at, steps);
    effects.at(step.index, 'running', null);
    if (step.event) await effects.move(step.event);
    const reported = await runStep(step, effects, at === from ? within : undefined);
    if (effects.boot && step.index > effects.boot.index && losesRamdisk(step) && steps.slice(at + 1).some(needsRamdisk))
      await rebooted(step, effects);
    if (reported) steps = [...steps.slice(0, at + 1), ...(await effects.join(step, steps.slice(at + 1), reported))];
  }
  if (effects.abortAsked()) throw new Aborted();
};

// A step that restarts the node from disk loses the ramdisk, which later steps may need.
const losesRamdisk = (step: PlannedStep): boolean =>
  step.awaits === undefined && step.acts.some(({ act }) => actRow(act).endsAgent);
const needsRamdisk = (step: PlannedStep): boolean => step.acts.some(({ act }) => actRow(act).by === 'agent');

/** Clean-up after an early end. Every step is tried. @returns the first failure */
export const tidy = async (steps: readonly PlannedStep[], effects: Effects): Promise<string | undefined> => {
  let fault: string | undefined;
  for (const step of steps) {
    effects.at(step.index, 'running', null);
    try {
      for (let index = 0; index < step.acts.length; index++) await tidyAct(step, index, effects);
    } catch (thrown) {
      if (!effects.isFailure(thrown)) throw thrown;
      fault ??= `${nameOf(step)}: ${effects.describe(thrown)}`;
      await effects.mark(step, 'failed', { error: effects.describe(thrown) });
    }
  }
  return fault;
};

const tidyAct = async (step: PlannedStep, index: number, effects: Effects): Promise<void> => {
  for (;;) {
    try {
      await effects.act(step, index);
      return;
    } catch (thrown) {
      if (!effects.isFrozen(thrown)) throw thrown;
      await effects.unfrozen(step, effects.describe(thrown), { evenAborted: true });
    }
  }
};

type Reported = readonly ReportedStep[] | undefined;

const runStep = async (step: PlannedStep, effects: Effects, within?: Within): Promise<Reported> => {
  switch (step.waits) {
    case 'time':
      await waitStep(step, Number(step.args.seconds), effects, within?.elapsedMs);
      return undefined;
    case 'unhold':
      await holdStep(step, effects);
      return undefined;
    case null: {
      const end = await effects.scoped(step.abortable, () => actStep(step, effects, within));
      if (end.follows === 'reboot' || (within?.reboots && !end.left)) await rebooted(step, effects);
      else if (step.awaits && !end.left) await met(step, step.awaits, effects);
      return end.reported;
    }
  }
};

const rebooted = async (step: PlannedStep, effects: Effects): Promise<void> => {
  if (!effects.boot) return;
  const again = await bootedFor(step, effects.boot, effects);
  await met(again, 'heartbeat', effects);
};

/** Boots the ramdisk under the index of another step. */
const bootedFor = async (step: PlannedStep, boot: PlannedStep, effects: Effects): Promise<PlannedStep> => {
  const again: PlannedStep = { ...boot, index: step.index };
  await effects.scoped(false, () => actStep(again, effects));
  return again;
};

/** Waits for the ramdisk, and boots it again if a restore has lost it. */
const met = async (step: PlannedStep, awaits: Awaited, effects: Effects): Promise<void> => {
  while ((await effects.contacted(step, awaits)) === 'lost' && effects.boot) {
    await effects.move('resume');
    await bootedFor(step, effects.boot, effects);
  }
};

const waitStep = async (step: PlannedStep, seconds: number, effects: Effects, elapsedMs = 0): Promise<void> => {
  effects.at(step.index, 'waiting', `${seconds} s to pass`);
  await effects.mark(step, 'waiting');
  await effects.move('wait');
  await effects.scoped(true, () =>
    effects.sleep(Math.max(1, seconds * 1_000 - elapsedMs), `${nameOf(step)}: ${seconds} s`),
  );
  effects.at(step.index, 'running', null); // before the move, which records it
  await effects.move('resume');
  await effects.mark(step, 'done');
};

// Ironic returns to its wait state and may stay there for ever; here the work continues.
const holdStep = async (step: PlannedStep, effects: Effects): Promise<void> => {
  effects.at(step.index, 'waiting', 'unhold');
  await effects.mark(step, 'waiting');
  await effects.move('hold');
  await effects.unheld();
  effects.at(step.index, 'running', null);
  await effects.move('unhold');
  await effects.move('resume');
  await effects.mark(step, 'done');
};

type StepEnd = Pick<ActOutcome, 'follows' | 'reported'> & {
  /** The rest of the step does not run. */
  readonly left?: true;
};

const actStep = async (given: PlannedStep, effects: Effects, within?: Within): Promise<StepEnd> => {
  let step = given;
  let end: StepEnd = {};
  let startedOver = false;
  let failure = within?.parked;
  // A lost wait continues at work; a parked step stays in the wait state.
  if (within && !failure && within.acts < step.acts.length) await effects.move('resume');
  for (let index = within?.acts ?? 0; index < step.acts.length; index++) {
    if (!failure) {
      const tried = await tryAct(step, index, effects, startedOver);
      switch (tried.is) {
        case 'left':
          return { left: true };
        case 'done':
          end = tried.outcome;
          continue;
        case 'frozen':
          index -= 1;
          continue;
        case 'rebooted':
          startedOver = true;
          index -= 1;
          continue;
        case 'failed':
          failure = tried;
      }
    }
    const decided = await park(step, failure.error, failure.unknown, effects);
    switch (decided.kind) {
      case 'retry':
        await effects.again(step, decided.args);
        if (decided.args) step = { ...step, args: decided.args };
        index = decided.args ? -1 : index - 1; // with new arguments, all acts run again
        break;
      case 'skip':
        await effects.mark(step, 'skipped');
        return { left: true };
      case 'fail':
        throw new FailedByPerson(failure.error);
    }
    failure = undefined;
  }
  return end;
};

type Tried =
  | { readonly is: 'done'; readonly outcome: ActOutcome }
  | { readonly is: 'left' | 'frozen' | 'rebooted' }
  | { readonly is: 'failed'; readonly error: string; readonly unknown: boolean };

/** As in Ironic, the node is in its wait state while the ramdisk works, so that a client may abort. The run then ends from there. */
const resting = async (step: PlannedStep, index: number, effects: Effects): Promise<ActOutcome> => {
  if (!effects.restsIn(step, index)) return effects.act(step, index);
  await effects.move('wait');
  try {
    const outcome = await effects.act(step, index);
    await effects.move('resume');
    return outcome;
  } catch (thrown) {
    if (effects.isFailure(thrown)) await effects.move('resume');
    throw thrown;
  }
};

/** `failed` parks the step; throws if the run ends. */
const tryAct = async (step: PlannedStep, index: number, effects: Effects, startedOver: boolean): Promise<Tried> => {
  try {
    const outcome = await resting(step, index, effects);
    return outcome.rest === 'skip' ? { is: 'left' } : { is: 'done', outcome };
  } catch (thrown) {
    if (effects.isFrozen(thrown)) {
      await effects.unfrozen(step, effects.describe(thrown));
      return { is: 'frozen' };
    }
    if (!startedOver && effects.boot && effects.startsOver(thrown, step, index)) {
      await rebooted(step, effects);
      return { is: 'rebooted' };
    }
    const unknown = effects.isUnknown(thrown);
    if (!unknown && effects.isFailure(thrown) && step.on_failure === 'continue') {
      await effects.mark(step, 'failed', { error: effects.describe(thrown) });
      return { is: 'left' };
    }
    const mayPark = unknown ? step.parks : effects.isFailure(thrown) && step.on_failure === 'park';
    if (!mayPark) throw thrown;
    return { is: 'failed', error: effects.describe(thrown), unknown };
  }
};

const park = async (step: PlannedStep, error: string, unknown: boolean, effects: Effects): Promise<Decided> => {
  const why = unknown ? 'whether the step took effect cannot be known' : 'the step failed';
  effects.at(step.index, 'parked', `a person: ${why}`);
  await effects.mark(step, 'parked', { error });
  await effects.move('wait');
  const decision = await effects.decided(step);
  effects.at(step.index, 'running', null);
  await effects.move('resume');
  return decision;
};
