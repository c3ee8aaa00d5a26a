/** Completes a plan after the ramdisk has reported its steps. */
import { raise } from '../errors';
import { numbered } from './plan-parts';
import type { Joins, PlannedStep, ReportedStep, StepInterface } from './step-types';
import { byPriority, nameOf, planActs } from './steps';

const asReported = (step: Omit<ReportedStep, 'argsinfo'>): PlannedStep => ({
  index: 0,
  interface: step.interface as StepInterface,
  step: step.step,
  args: {},
  acts: planActs(['agent_step']),
  waits: null,
  abortable: step.abortable ?? false,
  parks: true,
  priority: step.priority,
});

/**
 * Adds the ramdisk's steps, or checks the plan against them.
 * @param rest the remaining steps
 * @param from index of the first of them
 * Throws InvalidSteps with the steps that the ramdisk does not have.
 */
export const joined = (
  joins: Joins,
  rest: readonly PlannedStep[],
  reported: readonly ReportedStep[],
  from: number,
): PlannedStep[] => {
  const known = new Map(reported.map((step) => [nameOf(step), step]));
  const wantsAgent = (step: PlannedStep) => step.acts.some(({ act }) => act === 'agent_step');
  const missing = rest.filter((step) => wantsAgent(step) && !known.has(nameOf(step))).map(nameOf);
  if (missing.length > 0)
    raise('InvalidSteps', {
      reason: `The ramdisk on the node does not have ${missing.join(', ')}; it has ${[...known.keys()].join(', ') || 'no steps'}.`,
    });
  if (joins === 'check') return numbered(rest, from);
  const own = reported
    .filter((step) => step.priority > 0 && !rest.some((other) => nameOf(other) === nameOf(step)))
    .map(asReported);
  const [last, others] = [rest.filter((step) => step.system), rest.filter((step) => !step.system)];
  return numbered([...byPriority([...others, ...own]), ...last], from);
};
