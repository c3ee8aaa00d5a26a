/** Lets time pass for a BMC: whatever was due happens, in order, when somebody next looks. No timers, no lost events. */

import { bootBios } from './bios';
import { bootHost } from './boot';
import { faultOf } from './faults';
import { bootSecureBoot } from './secure-boot';
import { expireSessions } from './sessions';
import { bootTasks, endTask, nextLateDue, nextTaskDue } from './tasks';
import type { Bmc, TaskWork } from './types';
import { endFirmwareWork } from './update';
import { endStorageWork } from './volumes';

type Due = { at: number; happen: () => void };

/** Everything that happens when the host comes on. The boot mode first: secure boot depends on it. */
const onBoot: readonly ((bmc: Bmc, at: number) => void)[] = [bootHost, bootBios, bootSecureBoot, bootTasks];

const powerDue = (bmc: Bmc): Due | undefined => {
  const { power } = bmc.state;
  const next = power.coming[0];
  if (!next) return undefined;
  return {
    at: next.at,
    happen: () => {
      power.coming = power.coming.slice(1);
      power.shows = next.shows;
      power.onSince = next.shows === 'On' ? next.at : null;
      if (next.shows === 'On') for (const act of onBoot) act(bmc, next.at);
    },
  };
};

const works = (bmc: Bmc, work: TaskWork, at: number): void => {
  endStorageWork(bmc, work);
  endFirmwareWork(bmc, work, at);
};

const lateDue = (bmc: Bmc): Due | undefined => {
  const late = nextLateDue(bmc);
  if (!late) return undefined;
  return {
    at: late.at,
    happen: () => {
      bmc.state.late = bmc.state.late?.filter((each) => each !== late);
      works(bmc, late.work, late.at);
    },
  };
};

const taskDue = (bmc: Bmc, now: number): Due | undefined => {
  const task = nextTaskDue(bmc);
  if (!task || (task.endsAt <= now && faultOf(bmc, 'task-stuck', now))) return undefined;
  const { endsAt } = task;
  return {
    at: endsAt,
    happen: () => endTask(bmc, task, endsAt, () => works(bmc, task.work, endsAt)),
  };
};

const soonest = (bmc: Bmc, now: number): Due | undefined =>
  [powerDue(bmc), taskDue(bmc, now), lateDue(bmc)].filter((due) => due !== undefined).sort((a, b) => a.at - b.at)[0];

/** Brings a BMC to `now` (epoch milliseconds). */
export const advance = (bmc: Bmc, now: number): void => {
  for (let due = soonest(bmc, now); due && due.at <= now; due = soonest(bmc, now)) due.happen();
  const { manager } = bmc.state;
  if (manager.downUntil !== null && manager.downUntil <= now) manager.downUntil = null;
  expireSessions(bmc, now);
};
