/** Redfish tasks, which may report wrong states, lag, or be deleted too early. */

import { isTemperError, type TemperError } from '../../../model/errors';
import { ownValue } from '../../../model/own';
import { membersOf } from '../discovery/discovery';
import type { Client } from '../transport/client';
import { isTransientRefusal, type Reply, retryAfterMs } from '../transport/replies';
import { JobRoot, Task, TaskService } from './job-resources';
import type { LedgerEntry, TaskRefs } from './ledger-times';
import { type JobProgress, vendorJob } from './vendor-jobs';

// Task.v1_7_0 TaskState. `Starting`, `Pending`, `Suspended` and `Service` mean that the host must restart first.
const taskStates: Readonly<Record<string, 'waits' | 'done' | 'failed'>> = {
  Starting: 'waits',
  Pending: 'waits',
  Suspended: 'waits',
  Service: 'waits',
  Completed: 'done',
  Killed: 'failed',
  Exception: 'failed',
  Cancelled: 'failed',
};

const rebootWords =
  /(re-?boot|restart|reset)\w*[^.]{0,40}(pending|required|needed)|(pending|requires?|needs?)[^.]{0,40}(re-?boot|restart|reset)/i;

const line = (text: string): string =>
  text
    .replace(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ')
    .trim()
    .slice(0, 200);

const taskTextOf = (task: Task): string =>
  line((task.Messages ?? []).map((each) => each.Message ?? each.MessageId ?? '').join(' '));

/** `Completed` with status `Critical` is a failure. */
export const judge = (task: Task): JobProgress => {
  const state = task.TaskState ?? 'no state';
  const words = taskTextOf(task);
  const failed = {
    is: 'failed',
    reason: [[state, task.TaskStatus].filter(Boolean).join(', '), words].filter(Boolean).join(': '),
  } as const;
  const kind = ownValue(taskStates, state);
  if (kind === 'failed' || (kind === 'done' && task.TaskStatus === 'Critical')) return failed;
  if (kind === 'done') return { is: 'done', waits: rebootWords.test(words) };
  const percent = task.PercentComplete === undefined ? '' : ` ${task.PercentComplete} %`;
  return { is: 'running', state: `${state}${percent}`, waits: kind === 'waits' || rebootWords.test(words) };
};

/** The host of a link is ignored: it may be the BMC's inner address. */
const pathAt = (client: Client, given: string | undefined): string | undefined => {
  const { origin } = client.connection.settings.address;
  if (given === undefined || !URL.canParse(given, origin)) return undefined;
  const url = new URL(given, origin);
  return `${url.pathname}${url.search}`;
};

const taskIn = (body: unknown): Task | undefined => {
  const task = Task.safeParse(body);
  return task.success && task.data.TaskState !== undefined ? task.data : undefined;
};

/** Paths from Location, else from a task in the body. */
export const refsOf = (client: Client, reply: Reply): TaskRefs => {
  const body = Task.safeParse(reply.body).data;
  const isTask = body?.['@odata.type']?.startsWith('#Task.') || body?.TaskState !== undefined;
  const monitor =
    reply.status === 202 || isTask ? pathAt(client, reply.headers.location ?? body?.TaskMonitor) : undefined;
  const task = isTask ? pathAt(client, body?.['@odata.id']) : undefined;
  return { ...(monitor && { monitor }), ...(task && task !== monitor && { task }) };
};

const learntFrom = (client: Client, refs: TaskRefs, task: Task | undefined): { learnt?: TaskRefs } => {
  const path = pathAt(client, task?.['@odata.id']);
  return refs.task === undefined && path !== undefined && path !== refs.monitor ? { learnt: { task: path } } : {};
};

const unreadable: readonly number[] = [401, 403, 408, 429];

const errorAt = (client: Client, reply: Reply, path: string): TemperError =>
  client.connection.errorOf(reply, { node: String(client.facts().node), what: `GET ${path}` });

/** A monitor's last answer is that of the command, so an error there is the command's failure. */
const readTask = async (client: Client, path: string, refs: TaskRefs): Promise<JobProgress> => {
  const what = `GET ${path}`;
  const node = String(client.facts().node);
  const answer = await client.connection.ask({ method: 'GET', path, signal: client.context.signal, node, what });
  if ('failed' in answer) return { is: 'unreadable', error: answer.failed.error };
  const { reply } = answer;
  if (reply.status === 404 || reply.status === 410) return { is: 'lost' };
  const error = errorAt(client, reply, path);
  if (reply.garbled || unreadable.includes(reply.status) || (reply.status >= 300 && reply.status < 400))
    return { is: 'unreadable', error };
  if (reply.status > 500 || (reply.status >= 400 && isTransientRefusal(reply))) return { is: 'unreadable', error };
  if (reply.status >= 400)
    return { is: 'failed', reason: String(error.facts.reason), ...(reply.status === 500 && { unsure: true as const }) };
  const task = taskIn(reply.body);
  const judged: JobProgress = task
    ? judge(task)
    : reply.status === 202
      ? { is: 'running', state: 'in progress', waits: false }
      : { is: 'done' };
  return judged.is === 'running'
    ? { ...judged, ...learntFrom(client, refs, task), pauseMs: retryAfterMs(reply) }
    : judged;
};

/** The task outweighs its monitor, unless only the monitor has ended. */
const weigh = (monitor: JobProgress, task: JobProgress): JobProgress => {
  if (task.is === 'lost' || task.is === 'unreadable') return monitor;
  return monitor.is === 'done' && task.is === 'running' ? monitor : task;
};

/** @throws errors that no later look can mend, such as refused credentials */
export const progressOf = async (client: Client, { monitor, task }: TaskRefs): Promise<JobProgress> => {
  const refs = { ...(monitor && { monitor }), ...(task && { task }) };
  let seen: JobProgress = monitor ? await readTask(client, monitor, refs) : { is: 'lost' };
  if (seen.is !== 'running' && task !== undefined) seen = weigh(seen, await readTask(client, task, refs));
  const lost = seen.is === 'lost' ? (task ?? monitor) : undefined;
  return lost === undefined ? seen : ((await vendorJob(client, lost)) ?? seen);
};

/** A longer list is a log, not a list of work. */
const mostTasks = 300;

/** Undefined if there are none, or too many. */
export const listTasks = async (client: Client): Promise<string[] | undefined> => {
  try {
    const root = await client.get(`${client.connection.settings.address.prefix}/redfish/v1/`, JobRoot);
    const service = await client.find(root.value.Tasks?.['@odata.id'], TaskService);
    const paths = await membersOf(client, service?.value.Tasks?.['@odata.id']);
    return paths.length > mostTasks ? undefined : paths;
  } catch (error) {
    client.context.signal.throwIfAborted();
    if (isTemperError(error)) return undefined;
    throw error;
  }
};

/** The task that is new since the command; undefined if there are none or several. */
export const newTask = async (client: Client, { tasks }: LedgerEntry): Promise<string | undefined> => {
  if (tasks === null) return undefined;
  const fresh = ((await listTasks(client)) ?? []).filter((path) => !tasks.includes(path));
  return fresh.length === 1 ? fresh[0] : undefined;
};
