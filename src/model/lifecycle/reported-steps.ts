/** Steps that no table has: what the ramdisk of one node has reported of the hardware managers it was built with. */
import { bootsRamdisk, speaksOf } from './drivers';
import {
  type ArgRow,
  type Equipment,
  type ReportedStep,
  type StepInterface,
  type StepRow,
  stepVerbs,
} from './step-types';

// The ramdisk names its arguments and not their types, so that anything fits.
const argsOf = (step: ReportedStep): Readonly<Record<string, ArgRow>> =>
  Object.fromEntries(
    Object.entries(step.argsinfo ?? {}).map(([name, info]) => [
      name,
      { type: 'any', ...(info.required && { required: true }), says: info.description ?? 'the ramdisk does not say' },
    ]),
  );

/** The rows of what a node's ramdisk reported; none where the node does not boot it. */
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
