/** What ramdisks ask of the API: nobody needs to be known, a node's own token vouches for the rest. */
import type { Route } from '../route';
import { heartbeatRoute } from './ramdisk-heartbeat';
import { inspectionRoute } from './ramdisk-inspection';
import { lookupRoute } from './ramdisk-lookup';

export const ramdiskRoutes: Route[] = [lookupRoute, heartbeatRoute, inspectionRoute];
