/** Vendor jobs, which some BMCs keep after they have deleted the task. */

import type { TemperError } from '../../../model/errors';
import { ownValue } from '../../../model/own';
import { jobLists, jobStates } from '../../quirks';
import { findManager, findSystem } from '../discovery/discovery';
import type { Client } from '../transport/client';
import { JobRoot, JobService, ManagerDocument, VendorJob } from './job-resources';
import type { TaskRefs } from './ledger-times';

const judge = (job: VendorJob): JobProgress => {
  const state = job.JobState ?? 'no state';
  const kind = ownValue(jobStates, state);
  const words = job.Message ?? job.Messages?.map(({ Message }) => Message ?? '').join(' ') ?? '';
  if (kind === 'failed' || (kind === 'done' && job.JobStatus === 'Critical'))
    return { is: 'failed', reason: `job ${state}: ${words}`.slice(0, 250) };
  return kind === 'done' ? { is: 'done' } : { is: 'running', state: `job ${state}`, waits: kind === 'waits' };
};

/** Undefined if a property is missing. */
const under = (document: unknown, names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null ? ownValue(at as Record<string, unknown>, name) : undefined),
    document,
  );

/** Job collections: the vendor's, then DSP0266's JobService. */
const collections = async (client: Client): Promise<string[]> => {
  const { value: system } = await (await findSystem(client)).look();
  const { path } = await findManager(client, system);
  const manager = await client.find(path, ManagerDocument);
  const root = await client.get(`${client.connection.settings.address.prefix}/redfish/v1/`, JobRoot);
  const service = await client.find(root.value.JobService?.['@odata.id'], JobService);
  const found = [
    ...jobLists.map(({ link }) => under(manager?.value, [...link, '@odata.id'])),
    service?.value.Jobs?.['@odata.id'],
  ];
  return found.flatMap((path) => (typeof path === 'string' ? [path.replace(/\/$/, '')] : []));
};

/** Finds the job by the id of a lost task. */
export const vendorJob = async (client: Client, task: string): Promise<JobProgress | undefined> => {
  const id = task.replace(/\/$/, '').split('/').at(-1);
  for (const jobs of await collections(client)) {
    const job = await client.find(`${jobs}/${id}`, VendorJob);
    if (job?.value.JobState !== undefined) return judge(job.value);
  }
  return undefined;
};

/** `waits`: for a host restart, even if done. `lost`: neither success nor failure is proven. */
export type JobProgress =
  | {
      readonly is: 'running';
      readonly state: string;
      readonly waits: boolean;
      readonly learnt?: TaskRefs;
      readonly pauseMs?: number;
    }
  | { readonly is: 'done'; readonly waits?: boolean }
  | { readonly is: 'failed'; readonly reason: string; readonly unsure?: true }
  | { readonly is: 'lost' }
  | { readonly is: 'unreadable'; readonly error: TemperError };
