/** Shared by the workflows' plain tests: effects that write down what is done, and steps of any make. */
import type { PlannedStep } from '../../src/model/lifecycle/step-types';

import { type ActName, planActs } from '../../src/model/lifecycle/steps';
import type { ActOutcome } from '../../src/model/runs/runs';
import type { Effects } from '../../src/workflows/effects-contract';

/** A failure after which it is unknown what a step did. */
export class Unknown extends Error {}
/** A failure for a known reason. */
export class Failed extends Error {}

/** Hands that write down what is done; any may be replaced. */
export const recording = (over: Partial<Effects> = {}) => {
  const told: string[] = [];
  const effects: Effects = {
    act: async (step, index): Promise<ActOutcome> => {
      told.push(`act ${step.acts[index]!.act}`);
      return { is: 'done' };
    },
    move: async (event) => void told.push(`move ${event}`),
    mark: async (step, state) => void told.push(`mark ${step.index} ${state}`),
    at: (index, state) => void told.push(`at ${index} ${state}`),
    sleep: async (ms) => void told.push(`sleep ${ms}`),
    unheld: async () => void told.push('unheld'),
    decided: async () => ({ kind: 'retry' }),
    again: async (step, args) => void told.push(`again ${step.index}${args ? ' with others' : ''}`),
    startsOver: () => false,
    restsIn: () => false,
    isFrozen: () => false,
    unfrozen: async (step) => void told.push(`thawed ${step.index}`),
    async contacted(step, awaits) {
      told.push(`contacted ${step.index} ${awaits}`);
      return undefined;
    },
    join: async (_step, rest) => rest,
    cutsHistory: () => false,
    queueOn: async () => {
      throw new Error('not asked for');
    },
    goOn: async () => {
      throw new Error('not asked for');
    },
    abortAsked: () => false,
    unpaused: async () => {},
    isFailure: (thrown) => thrown instanceof Failed,
    scoped: (_abortable, work) => work(),
    isUnknown: (thrown) => thrown instanceof Unknown,
    describe: (thrown) => (thrown as Error).message,
    ...over,
  };
  return { told, effects: effects };
};

/** A step at a place of the plan, with these acts. */
export const stepAt = (index: number, acts: readonly ActName[], more: Partial<PlannedStep> = {}): PlannedStep => ({
  index,
  interface: 'deploy',
  step: `step_${index}`,
  args: {},
  acts: planActs(acts),
  waits: null,
  abortable: false,
  parks: false,
  ...more,
});

/** The step that boots the ramdisk, first in its plan. */
export const boot = stepAt(0, ['power_off', 'power_on'], { step: 'boot_ramdisk', awaits: 'heartbeat' });

/** Acting that throws each of these in turn, or ends well where there is none, then does as it is asked. */
export const throwingFirst = (
  { effects }: { effects: Effects },
  ...failures: readonly (Error | undefined)[]
): Effects => {
  const left = [...failures];
  return {
    ...effects,
    act: async (step, index) => {
      const outcome = await effects.act(step, index);
      const failure = left.shift();
      if (failure) throw failure;
      return outcome;
    },
  };
};
