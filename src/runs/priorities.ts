/** Priorities on task queues: operators, then single runs, then rollouts; projects by turns. */
import type { Priority } from '@temporalio/common';
import { sha256Of } from '../model/digests';
import type { RunInput } from '../model/runs/runs';

/** Temporal has five levels; the lowest goes first, 3 is the default. */
const levels = { people: 1, runs: 3, rollouts: 5 } as const;

// Bytes, as in a hex hash. Temporal refuses longer keys.
const longestKey = 64;

const fairnessOf = (owner: string | null): string => {
  const key = owner === null ? 'system' : `project ${owner}`;
  return Buffer.byteLength(key) <= longestKey ? key : sha256Of(key);
};

/** Activities inherit it, also on the queues of BMC workers. */
export const priorityOf = (
  { verb }: Pick<RunInput, 'verb'>,
  { owner, rollout }: { readonly owner: string | null; readonly rollout?: string | null },
): Priority => ({
  priorityKey: rollout ? levels.rollouts : verb === 'power' || verb === 'call' ? levels.people : levels.runs,
  fairnessKey: fairnessOf(owner),
});

export const lookPriority = (project: string | null): Priority => ({
  priorityKey: levels.people,
  fairnessKey: fairnessOf(project),
});

/** For an aborted run, because the caller waits. */
export const urgent = { priorityKey: levels.people } as const;
