/** Reconciliation by an operator. Control workers do it every minute without a workflow. */
import { proxyActivities } from '@temporalio/workflow';
import type { ControlActivities } from '../activities/control';
import { onStore } from './profiles';

const control = proxyActivities<ControlActivities>({
  ...onStore,
  startToCloseTimeout: '50s',
  heartbeatTimeout: '20s',
});

export const reconcile = async (): Promise<{ started: number; ended: number }> =>
  control.reconcile.executeWithOptions(
    { ...onStore, startToCloseTimeout: '50s', heartbeatTimeout: '20s', summary: 'start accepted runs, end lost ones' },
    [],
  );
