/** Queries of runs: acceptance, writes under the fence, end and reads. */
import { randomUUID } from 'node:crypto';
import type { RunUuid } from '../../model/ids';
import type { Db } from '../database';
import { acceptedRuns } from './accept';
import { finishedRuns, heldRuns } from './hold';
import { readRuns } from './read';
import { runMessages, startingRuns } from './starting';

export type { HeldNode } from './hold';
export type { RunRow } from './read';

export const runs = (sql: Db) => ({
  newId: (): RunUuid => randomUUID() as RunUuid,
  ...acceptedRuns(sql),
  ...heldRuns(sql),
  ...finishedRuns(sql),
  ...runMessages(sql),
  ...startingRuns(sql),
  ...readRuns(sql),
});
