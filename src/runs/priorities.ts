/** Who comes first on the task queues where work waits: people, then single runs, then rollouts; and projects by turns. */
import type { Priority } from '@temporalio/common';
import { sha256Of } from '../model/digests';
import type { RunInput } from '../model/runs/runs';

/** The server has five levels; lower goes first, 3 is what it takes where nothing is said. */
const levels = { people: 1, runs: 3, rollouts: 5 } as const;

// In bytes; as many as the digits of a hash. The server refuses longer ones.
const longestKey = 64;

const fairnessOf = (owner: string | null): string => {
  const key = owner === null ? 'system' : `project ${owner}`;
  return Buffer.byteLength(key) <= longestKey ? key : sha256Of(key);
};

/** What a workflow takes its turn by; the acts that it asks for inherit it, on the queues of BMC workers too. */
export const priorityOf = (
  { verb }: Pick<RunInput, 'verb'>,
  { owner, rollout }: { readonly owner: string | null; readonly rollout?: string | null },
): Priority => ({
  priorityKey: rollout ? levels.rollouts : verb === 'power' || verb === 'call' ? levels.people : levels.runs,
  fairnessKey: fairnessOf(owner),
});

/** A look at a BMC that a caller waits for. */
export const lookPriority = (project: string | null): Priority => ({
  priorityKey: levels.people,
  fairnessKey: fairnessOf(project),
});

/** What a run gets when its end is asked for: the caller waits for it. */
export const urgent = { priorityKey: levels.people } as const;
