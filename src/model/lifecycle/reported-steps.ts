/** Steps outside the catalogue, reported by a node's ramdisk. */
import { bootsRamdisk, speaksOf } from './drivers';
import {
  type ArgRow,
  type Equipment,
  type ReportedStep,
  type StepInterface,
  type StepRow,
  stepVerbs,
} from './step-types';

// The ramdisk reports no types, so any value fits.
const argsOf = (step: ReportedStep): Readonly<Record<string, ArgRow>> =>
  Object.fromEntries(
    Object.entries(step.argsinfo ?? {}).map(([name, info]) => [
      name,
      { type: 'any', ...(info.required && { required: true }), says: info.description ?? 'the ramdisk does not say' },
    ]),
  );

/** None if the node does not boot the ramdisk. */
export const reportedSteps = (node: Equipment): StepRow[] => {
  const driver = speaksOf(node.driver);
  return driver && bootsRamdisk(node)
    ? (node.reported_steps ?? []).map((step) => ({
        interface: step.interface as StepInterface,
        step: step.step,
        verbs: stepVerbs,
        drivers: [driver],
        ramdisk: true,
        priority: step.priority,
        acts: ['agent_step'],
        args: argsOf(step),
        abortable: step.abortable ?? false,
        parks: true,
        says: 'Offered by the ramdisk of this node.',
      }))
    : [];
};
