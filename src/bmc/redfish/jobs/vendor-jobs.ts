/** A second account of long work: the job that some BMCs keep when they have deleted its task already. */

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

/** What lies in a document under these property names, one below the other; undefined where one of them is missing. */
const under = (document: unknown, names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null ? ownValue(at as Record<string, unknown>, name) : undefined),
    document,
  );

/** Collections in which the job may be, most specific first: the vendor's own, then DSP0266's JobService. */
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

/** What a job with the id of a lost task says; undefined when there is none. */
export const vendorJob = async (client: Client, task: string): Promise<JobProgress | undefined> => {
  const id = task.replace(/\/$/, '').split('/').at(-1);
  for (const jobs of await collections(client)) {
    const job = await client.find(`${jobs}/${id}`, VendorJob);
    if (job?.value.JobState !== undefined) return judge(job.value);
  }
  return undefined;
};

/** `waits`: for a start of the host, though it may have ended well. `lost`: no record of it is left, which proves neither an end nor a failure. */
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
