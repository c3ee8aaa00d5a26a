/** Passes on to the run that holds a node that something came from its ramdisk. */
import type { NodeUuid } from '../../../model/ids';
import type { Rooms } from '../../context';

/** Not awaited: a run that misses the message looks for itself. */
export const notifyRun = (rooms: Rooms, node: NodeUuid, kind: 'heartbeat' | 'inspection'): void => {
  rooms.runs
    .agentContact({ node, kind })
    .catch((thrown) =>
      rooms.log.warn('ramdisk callback received, run not notified', { node_uuid: node, kind, reason: String(thrown) }),
    );
};
