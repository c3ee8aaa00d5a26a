/** Long work: tasks, their monitors, and how they end. What a task does when it ends belongs to its subject. */

import { jobListFor } from '../../src/bmc/quirks';
import { collection, done, errorBody, link, notThere, resource } from './answers';
import { nextId, systemPath } from './bmc';
import { faultOf } from './faults';
import { makerOf } from './profiles';
import type { Answer, Bmc, Doc, Exchange, LateWork, Row, Task, TaskWork } from './types';

const service = '/redfish/v1/TaskService';
const tasksPath = `${service}/Tasks`;
const monitorOf = (task: Task): string => `${service}/TaskMonitors/${task.id}`;
/** Finished tasks beyond this number are forgotten, oldest first. */
const kept = 50;

const stateOf = (
  bmc: Bmc,
  task: Task,
  now: number,
): { TaskState: string; TaskStatus: string; PercentComplete: number } => {
  if (task.endedAt !== null)
    return task.failed
      ? { TaskState: 'Exception', TaskStatus: 'Critical', PercentComplete: 100 }
      : { TaskState: 'Completed', TaskStatus: task.critical ? 'Critical' : 'OK', PercentComplete: 100 };
  if (faultOf(bmc, 'task-new', now)) return { TaskState: 'New', TaskStatus: 'OK', PercentComplete: 0 };
  // Waiting for a boot shows as Starting: clients reboot the host when they see it.
  if (task.needsBoot) return { TaskState: 'Starting', TaskStatus: 'OK', PercentComplete: 0 };
  const whole = (task.endsAt ?? now) - task.startedAt;
  const part = whole > 0 ? Math.round(((now - task.startedAt) / whole) * 100) : 0;
  return { TaskState: 'Running', TaskStatus: 'OK', PercentComplete: Math.min(99, Math.max(0, part)) };
};

const isBad = (task: Task): boolean => task.failed || task.critical === true;

/** What a task says at its end. */
export const wordsOf = (task: Task): string => {
  if (isBad(task)) return 'The operation failed; nothing was changed.';
  return task.rebootPending ? 'The operation completed, a server reboot is pending.' : 'The operation completed.';
};

const messageOf = (task: Task): Doc => ({
  MessageId: isBad(task) ? 'Base.1.12.GeneralError' : 'Base.1.12.Success',
  Message: wordsOf(task),
  Severity: isBad(task) ? 'Critical' : 'OK',
});

const taskDoc = (bmc: Bmc, task: Task, now: number): Doc =>
  resource(`${tasksPath}/${task.id}`, 'Task.v1_7_0.Task', task.id, task.name, {
    ...stateOf(bmc, task, now),
    TaskMonitor: monitorOf(task),
    StartTime: new Date(task.startedAt).toISOString(),
    ...(task.endedAt === null ? {} : { EndTime: new Date(task.endedAt).toISOString(), Messages: [messageOf(task)] }),
  });

/** Starts a task and makes the 202 that announces it. */
export const startTask = (
  bmc: Bmc,
  {
    name,
    work,
    now,
    ms,
    needsBoot = false,
  }: { name: string; work: TaskWork; now: number; ms: number; needsBoot?: boolean },
): Answer => {
  const waits = needsBoot && !faultOf(bmc, 'work-at-boot', now);
  const endsAt = waits ? null : now + ms;
  const task: Task = {
    id: `${jobListFor(makerOf(bmc.profile))?.idPrefix ?? 'TASK'}_${nextId(bmc)}`,
    name,
    work,
    startedAt: now,
    endsAt,
    needsBoot: waits,
    endedAt: null,
    failed: false,
  };
  const finished = bmc.state.tasks.filter(({ endedAt }) => endedAt !== null);
  const forgotten = new Set(finished.slice(0, Math.max(0, finished.length - kept)));
  bmc.state.tasks = [...bmc.state.tasks.filter((each) => !forgotten.has(each)), task];
  return announce(bmc, task, now);
};

const announce = (bmc: Bmc, task: Task, now: number): Answer => {
  if (faultOf(bmc, 'task-no-location', now)) return { status: 202 };
  if (faultOf(bmc, 'task-in-body', now)) return { status: 202, body: taskDoc(bmc, task, now) };
  // No body: sushy (5.14) would take the task in it for the monitor, and a task that answers 200 for finished work.
  // No Retry-After: it sleeps for the header's text instead of its number, and fails.
  return { status: 202, headers: { Location: monitorOf(task) } };
};

/** Whether a task of the given kind of work is under way. */
export const isBusyWith = (bmc: Bmc, matches: (work: TaskWork) => boolean): boolean =>
  bmc.state.tasks.some((task) => task.endedAt === null && matches(task.work));

/** The running task that is due first, if any has a time to end at. */
export const nextTaskDue = (bmc: Bmc): (Task & { endsAt: number }) | undefined =>
  bmc.state.tasks
    .filter((task): task is Task & { endsAt: number } => task.endedAt === null && task.endsAt !== null)
    .sort((a, b) => a.endsAt - b.endsAt)[0];

/** Ends a task at its time: as a failure if a fault says so, otherwise with what it was started for. */
export const endTask = (bmc: Bmc, task: Task, at: number, works: () => void): void => {
  task.failed = faultOf(bmc, 'task-fails', at) !== undefined;
  task.endedAt = at;
  task.endsAt = null;
  if (task.failed) return;
  task.critical = faultOf(bmc, 'task-critical', at) !== undefined;
  if (task.critical || faultOf(bmc, 'work-lost', at)) return;
  task.rebootPending = faultOf(bmc, 'work-at-boot', at) !== undefined;
  const late = faultOf(bmc, 'work-late', at);
  if (task.rebootPending) later(bmc, null, task.work);
  else if (late) later(bmc, at + (late.ms ?? 1000), task.work);
  else works();
};

/** Work whose effect comes after its task; `at` null: at the next boot. */
export const later = (bmc: Bmc, at: number | null, work: TaskWork): void => {
  bmc.state.late = [...(bmc.state.late ?? []), { at, work }];
};

/** The late work that is due next. */
export const nextLateDue = (bmc: Bmc): (LateWork & { at: number }) | undefined =>
  (bmc.state.late ?? [])
    .filter((each): each is LateWork & { at: number } => each.at !== null)
    .sort((a, b) => a.at - b.at)[0];

/** Tasks that waited for the host to boot begin to run. */
export const bootTasks = (bmc: Bmc, at: number): void => {
  for (const task of bmc.state.tasks) {
    if (task.endedAt !== null || !task.needsBoot) continue;
    task.needsBoot = false;
    task.endsAt = at + bmc.timing.postMs;
  }
  bmc.state.late = (bmc.state.late ?? []).map((each) => ({ ...each, at: each.at ?? at }));
};

const isHidden = (bmc: Bmc, task: Task, now: number): boolean => {
  if (faultOf(bmc, 'task-vanishes', now)) return true;
  if (task.endedAt !== null && faultOf(bmc, 'task-forgotten', now)) return true;
  const late = faultOf(bmc, 'task-late', now);
  return late !== undefined && now < task.startedAt + (late.ms ?? 1000);
};

const find = (x: Exchange): Task => {
  const task = x.bmc.state.tasks.find(({ id }) => id === x.params.task);
  return !task || isHidden(x.bmc, task, x.now) ? notThere(x.path) : task;
};

const ended = (bmc: Bmc, task: Task): Answer => {
  if (task.failed)
    return { status: 500, body: errorBody('GeneralError', 'The operation failed; nothing was changed.') };
  if (task.work.is !== 'create-volume') return done;
  const { controller, volume } = task.work;
  return { status: 201, headers: { Location: `${systemPath(bmc)}/Storage/${controller}/Volumes/${volume.id}` } };
};

const monitor = (x: Exchange): Answer => {
  const task = find(x);
  if (task.endedAt !== null) return ended(x.bmc, task);
  const rest = faultOf(x.bmc, 'task-retry-after', x.now);
  const headers = { Location: monitorOf(task), ...(rest && { 'Retry-After': String(rest.retryAfter ?? 1) }) };
  return { status: 202, body: taskDoc(x.bmc, task, x.now), headers };
};

export const taskRows: readonly Row[] = [
  {
    path: service,
    get: () =>
      resource(service, 'TaskService.v1_2_0.TaskService', 'TaskService', 'Task Service', {
        ServiceEnabled: true,
        CompletedTaskOverWritePolicy: 'Oldest',
        LifeCycleEventOnTaskStateChange: false,
        Tasks: link(tasksPath),
      }),
  },
  {
    path: tasksPath,
    get: ({ bmc }) =>
      collection(
        tasksPath,
        'TaskCollection',
        'Task Collection',
        bmc.state.tasks.map(({ id }) => id),
      ),
  },
  { path: `${tasksPath}/:task`, get: (x) => taskDoc(x.bmc, find(x), x.now) },
  { path: `${service}/TaskMonitors/:task`, read: monitor },
];
