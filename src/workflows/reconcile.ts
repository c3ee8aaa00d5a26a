/**
 * What fell between acceptance, engine and store is put right: where an operator triggers it. Control workers do it each minute
 * without a workflow.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { ControlActivities } from '../activities/control';
import { onStore } from './profiles';

const control = proxyActivities<ControlActivities>({
  ...onStore,
  startToCloseTimeout: '50s',
  heartbeatTimeout: '20s',
});

/** Answers how many runs were started, ended and freed. */
export const reconcile = async (): Promise<{ started: number; ended: number }> =>
  control.reconcile.executeWithOptions(
    { ...onStore, startToCloseTimeout: '50s', heartbeatTimeout: '20s', summary: 'start accepted runs, end lost ones' },
    [],
  );
