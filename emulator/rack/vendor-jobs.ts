/** A vendor's own list of work: the same as its tasks, remembered longer than they are. */

import { type JobListRow, jobListFor, jobLists } from '../../src/bmc/quirks';
import { collection, link, notThere, resource } from './answers';
import { managerPath } from './bmc';
import { makerOf } from './profiles';
import { wordsOf } from './tasks';
import type { Bmc, Doc, Exchange, Row, Task } from './types';

/** Below the manager, under the names by which the manager links to it. */
const placeOf = (list: JobListRow): string => list.link.slice(1).join('/');

const jobsPath = (bmc: Bmc, list: JobListRow): string => `${managerPath(bmc)}/${placeOf(list)}`;

/** The vendor's part of the manager's links: where its jobs are. */
export const jobListLink = (bmc: Bmc): Doc => {
  const list = jobListFor(makerOf(bmc.profile));
  if (list === undefined) return {};
  return list.link.slice(1).reduceRight<Doc>((inner, name) => ({ [name]: inner }), link(jobsPath(bmc, list)));
};

const stateOf = (task: Task): string => {
  if (task.endedAt !== null) return task.failed || task.critical ? 'Failed' : 'Completed';
  return task.needsBoot ? 'Scheduled' : 'Running';
};

const jobDoc = (x: Exchange, list: JobListRow, type: string): Doc => {
  const task = x.bmc.state.tasks.find(({ id }) => id === x.params.job) ?? notThere(x.path);
  return resource(`${jobsPath(x.bmc, list)}/${task.id}`, `${type}.v1_4_0.${type}`, task.id, task.name, {
    JobState: stateOf(task),
    Message: task.endedAt === null ? 'The job is under way.' : wordsOf(task),
    PercentComplete: task.endedAt === null ? 0 : 100,
  });
};

const rowsOf = (list: JobListRow): Row[] => {
  const path = `/redfish/v1/Managers/:manager/${placeOf(list)}`;
  const type = `${list.link.at(-2)}Job`;
  const when: Row['when'] = (profile) => jobListFor(makerOf(profile)) === list;
  const idsOf = (bmc: Bmc) => bmc.state.tasks.map(({ id }) => id);
  return [
    {
      path,
      when,
      get: ({ bmc }) => collection(jobsPath(bmc, list), `${type}Collection`, 'Jobs', idsOf(bmc)),
    },
    { path: `${path}/:job`, when, get: (x) => jobDoc(x, list, type) },
  ];
};

export const vendorJobRows: readonly Row[] = jobLists.flatMap(rowsOf);
