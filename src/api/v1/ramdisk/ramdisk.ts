/** What ramdisks ask of the API: nobody needs to be known, a node's own token vouches for the rest. */
import type { Route } from '../../http/route';
import { heartbeatRoute } from './heartbeat';
import { inspectionRoute } from './inspection';
import { lookupRoute } from './lookup';

export const ramdiskRoutes: Route[] = [lookupRoute, heartbeatRoute, inspectionRoute];
