/** A read of a node's BMC for a waiting caller: no lock, no run, no change. */
import { proxyActivities } from '@temporalio/workflow';
import type { LookActivities } from '../activities/read';
import { actRow } from '../model/lifecycle/steps';
import type { CallInput } from '../model/runs/calls';
import { groupQueue } from './contract';

export async function bmcCall(call: CallInput): Promise<unknown> {
  const { conductor_group, queue_prefix, timeoutMs, ...input } = call;
  const { look } = proxyActivities<LookActivities>({
    taskQueue: groupQueue(conductor_group, queue_prefix),
    startToCloseTimeout: call.withinMs,
    scheduleToCloseTimeout: timeoutMs,
    heartbeatTimeout: '20s',
    retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5s', maximumAttempts: 3 },
    summary: actRow(call.act).says,
  });
  return look(input);
}
