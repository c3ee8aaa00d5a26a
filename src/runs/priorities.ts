/** Priorities on task queues: operators first, then single runs, then rollouts; projects by turns. */
import type { Priority } from '@temporalio/common';
import { sha256Of } from '../model/digests';
import type { RunInput } from '../model/runs/runs';

/** Temporal has five levels. Lower goes first, and 3 is the default. */
const levels = { people: 1, runs: 3, rollouts: 5 } as const;

// In bytes, as long as a hash in hex. Temporal refuses longer keys.
const longestKey = 64;

const fairnessOf = (owner: string | null): string => {
  const key = owner === null ? 'system' : `project ${owner}`;
  return Buffer.byteLength(key) <= longestKey ? key : sha256Of(key);
};

/** Priority of a workflow. Its activities inherit it, also on the queues of BMC workers. */
export const priorityOf = (
  { verb }: Pick<RunInput, 'verb'>,
  { owner, rollout }: { readonly owner: string | null; readonly rollout?: string | null },
): Priority => ({
  priorityKey: rollout ? levels.rollouts : verb === 'power' || verb === 'call' ? levels.people : levels.runs,
  fairnessKey: fairnessOf(owner),
});

/** Priority of a read from a BMC that a caller waits for. */
export const lookPriority = (project: string | null): Priority => ({
  priorityKey: levels.people,
  fairnessKey: fairnessOf(project),
});

/** Priority of a run that is being aborted: the caller waits for it. */
export const urgent = { priorityKey: levels.people } as const;
