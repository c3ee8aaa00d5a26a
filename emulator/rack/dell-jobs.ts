/** Dell's own list of work: the same as its tasks, remembered longer than they are. */

import { collection, link, notThere, resource } from './answers';
import { managerPath } from './bmc';
import type { Profile } from './profiles';
import { wordsOf } from './tasks';
import type { Bmc, Doc, Exchange, Row, Task } from './types';

const jobsPath = (bmc: Bmc): string => `${managerPath(bmc)}/Oem/Dell/Jobs`;
const isDell = ({ vendor }: Profile): boolean => vendor === 'Dell';

/** Where a manager says that its jobs are. */
export const dellJobsLink = (bmc: Bmc): Doc =>
  isDell(bmc.profile) ? { Oem: { Dell: { Jobs: link(jobsPath(bmc)) } } } : {};

const stateOf = (task: Task): string => {
  if (task.endedAt !== null) return task.failed || task.critical ? 'Failed' : 'Completed';
  return task.needsBoot ? 'Scheduled' : 'Running';
};

const jobDoc = (x: Exchange): Doc => {
  const task = x.bmc.state.tasks.find(({ id }) => id === x.params.job) ?? notThere(x.path);
  return resource(`${jobsPath(x.bmc)}/${task.id}`, 'DellJob.v1_4_0.DellJob', task.id, task.name, {
    JobState: stateOf(task),
    Message: task.endedAt === null ? 'The job is under way.' : wordsOf(task),
    PercentComplete: task.endedAt === null ? 0 : 100,
  });
};

export const dellJobRows: readonly Row[] = [
  {
    path: '/redfish/v1/Managers/:manager/Oem/Dell/Jobs',
    when: isDell,
    get: ({ bmc }) =>
      collection(
        jobsPath(bmc),
        'DellJobCollection',
        'Jobs',
        bmc.state.tasks.map(({ id }) => id),
      ),
  },
  { path: '/redfish/v1/Managers/:manager/Oem/Dell/Jobs/:job', when: isDell, get: jobDoc },
];
