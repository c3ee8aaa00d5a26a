/** Long work at a BMC: each command is recorded, sent once, and watched until its effect shows. */
import { refuseIfOutcomeUnknown } from '../../announce';
import type { Sent } from '../transport/client';
import { plainUrls } from '../transport/plain-urls';
import type { Job, JobContext } from './job';
import { update, watchUntilDone } from './job-watch';
import { listTasks, refsOf } from './tasks';

/** If an operator starts a failed act again, an effect that shows by then needs no command. */
const showsByNow = async (context: JobContext, job: Job): Promise<boolean> => {
  const entry = context.ledger.job(job.key);
  if (entry?.is === 'ended') return (await job.effect(entry.before, false)).shows;
  return (await job.unneeded?.()) ?? false;
};

const sendJob = async (context: JobContext, job: Job): Promise<Sent> => {
  const { client, ledger } = context;
  const before = await job.before();
  const tasks = (await listTasks(client)) ?? null;
  client.context.signal.throwIfAborted();
  refuseIfOutcomeUnknown(client);
  if (ledger.job(job.key)) await ledger.dropJob(job.key);
  await ledger.putJob(job.key, { is: 'sent', before, tasks, sent: performance.now() });
  client.context.beat({ what: job.key, doing: 'sending' });
  if (client.context.signal.aborted) await ledger.dropJob(job.key);
  client.context.signal.throwIfAborted();
  return job.send().catch(async (error: unknown) => {
    // An error means that nothing was sent, unless the signal aborted midway: then the entry stays.
    if (!client.context.signal.aborted) await ledger.dropJob(job.key);
    throw error;
  });
};

const start = async (context: JobContext, job: Job): Promise<void> => {
  const { client, ledger } = context;
  const known = ledger.job(job.key);
  if (known && known.is !== 'ended') return;
  if (await showsByNow(context, job)) {
    const nothing = { before: null, tasks: null, sent: performance.now() };
    return ledger.putJob(job.key, { ...(known ?? nothing), is: 'done' });
  }
  const sent = await sendJob(context, job);
  switch (sent.is) {
    case 'refused':
      await ledger.dropJob(job.key);
      throw sent.error;
    case 'unknown':
      return client.context.log.warn('a command got no answer', { what: job.key, why: plainUrls(sent.error.message) });
    case 'accepted': {
      const refs = refsOf(client, sent.reply);
      const final = sent.reply.status !== 202 && refs.monitor === undefined && refs.task === undefined;
      await update(context, job, { is: 'accepted', ...refs, ...(final && { final }) });
      client.context.beat({ what: job.key, doing: 'accepted', ...refs });
    }
  }
};

/**
 * Jobs share one host restart. Throws BmcJobFailed, BmcJobEndless, StepOutcomeUnknown, and errors of a refused command or a failed
 * restart.
 */
export const performJobs = async (context: JobContext, jobs: readonly Job[]): Promise<void> => {
  for (const job of jobs) await start(context, job);
  for (const job of jobs) await watchUntilDone({ context, job, wave: jobs[0]!.key, doubts: 0 });
};
