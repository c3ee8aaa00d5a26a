/** Queries of a run's steps, acts and intents. */
import type { Db } from '../database';
import { stepActs } from './acts';
import { actIntents } from './intents';
import { plannedSteps } from './steps';

export type { ActKey, Begun, Cut, CutAct } from './acts';
export type { StepRow } from './steps';

export const runSteps = (sql: Db) => ({
  ...plannedSteps(sql),
  ...stepActs(sql),
  ...actIntents(sql),
});
