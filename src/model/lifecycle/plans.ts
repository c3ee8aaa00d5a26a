/** Plans of each kind of run: steps before and after the caller's, and tidying steps of an early end. */
import { bootsRamdisk, interfaceOf } from './drivers';
import { backToInstance, bootRamdisk, byMedia, eject, emptied, listSteps, removeRamdisk, toRamdisk } from './plan-boot';
import { deploying } from './plan-deploy';
import { needsRamdisk, type Plan, type PlannedNode, type PlanWanted, plan, planned } from './plan-parts';
import { planSteps } from './plan-steps';
import type { GivenStep, PlannedStep } from './step-types';
import { automaticSteps, lookStep } from './steps';
import type { RunKind } from './verbs';

const cleaning = ({ node, steps, automatic }: PlanWanted): Plan => {
  const ramdisk = automatic ? bootsRamdisk(node) : needsRamdisk(steps);
  if (!ramdisk) return plan(steps);
  const away = [removeRamdisk(node)];
  return plan([bootRamdisk(node), listSteps, ...steps, ...away], {
    tidy: { failed: [], aborted: away },
    joins: automatic ? 'automatic' : 'check',
  });
};

const servicing = ({ node, steps }: PlanWanted): Plan => {
  if (!needsRamdisk(steps)) return plan(steps);
  const back = [backToInstance(node)];
  return plan([bootRamdisk(node), listSteps, ...steps, ...back], {
    tidy: { failed: [], aborted: back },
    joins: 'check',
  });
};

const tearingDown = (wanted: PlanWanted): Plan => {
  const { node } = wanted;
  const down = planned({
    interface: 'deploy',
    step: 'tear_down',
    acts: ['power_off', ...eject(node)],
    args: { device_type: 'cdrom' },
    hidden: true,
  });
  const clean = cleaning(wanted);
  const [first, ...more] = clean.steps;
  const after = first ? [{ ...first, event: 'clean' as const }, ...more] : [];
  // The disc must always leave the drive, because the next boot would be from it.
  const away = [...(clean.tidy ? [removeRamdisk(node)] : []), ...emptied(node)];
  const tidy = { failed: away, aborted: away, ...(byMedia(node) && { unbooted: emptied(node) }) };
  return plan([down, ...after], { ...((clean.tidy || byMedia(node)) && { tidy }), joins: clean.joins });
};

const inspecting = ({ node }: PlanWanted): Plan => {
  const implementation = interfaceOf(node, 'inspect');
  if (implementation !== 'agent')
    return plan([planned({ interface: 'management', step: 'inspect', acts: ['inspect'], hidden: true })]);
  const away = [removeRamdisk(node)];
  return plan([bootRamdisk(node, 'inspection'), ...away], { tidy: { failed: away, aborted: away } });
};

const rescuing = ({ node, args }: PlanWanted): Plan => {
  if (interfaceOf(node, 'rescue') === 'fake')
    return plan([planned({ interface: 'deploy', step: 'rescue', acts: ['power_off', 'power_on'], hidden: true })]);
  const away = [removeRamdisk(node, 'clean_up')];
  return plan(
    [
      planned({
        interface: 'deploy',
        step: 'boot_rescue',
        ...toRamdisk(node, 'rescue'),
        awaits: 'heartbeat',
        hidden: true,
      }),
      planned({
        interface: 'deploy',
        step: 'finalize_rescue',
        acts: ['agent_finalize_rescue'],
        args,
        abortable: true,
        hidden: true,
      }),
    ],
    { tidy: { failed: away, aborted: away } },
  );
};

const unrescuing = ({ node }: PlanWanted): Plan => plan([backToInstance(node)]);
const looking = (): Plan => plan([lookStep]);
const given = ({ steps }: PlanWanted): Plan => plan(steps);

const plans: Readonly<Record<RunKind, (wanted: PlanWanted) => Plan>> = {
  verify: looking,
  adopt: looking,
  inspect: inspecting,
  clean: cleaning,
  service: servicing,
  deploy: deploying,
  undeploy: tearingDown,
  rescue: rescuing,
  unrescue: unrescuing,
  power: given,
  call: given,
};

/** Throws DriverInfoInvalid, InvalidSteps. */
export const planFor = (kind: RunKind, wanted: PlanWanted): Plan => plans[kind](wanted);

/** Empty if the node's cleaning is switched off. */
export const automaticPlan = (node: PlannedNode): readonly PlannedStep[] => {
  const listed: readonly GivenStep[] = automaticSteps(node);
  return planSteps(listed, 'clean', node);
};
