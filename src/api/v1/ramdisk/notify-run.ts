/** Notification of the run that holds a node about messages from its ramdisk. */
import type { NodeUuid } from '../../../model/ids';
import type { ApiContext } from '../../context';

/** Not awaited: a run that misses the message polls. */
export const notifyRun = (ctx: ApiContext, node: NodeUuid, kind: 'heartbeat' | 'inspection'): void => {
  ctx.runs
    .agentContact({ node, kind })
    .catch((thrown) =>
      ctx.log.warn('ramdisk callback received, run not notified', { node_uuid: node, kind, reason: String(thrown) }),
    );
};
