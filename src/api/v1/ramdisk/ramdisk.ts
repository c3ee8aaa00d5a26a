/** Ramdisk routes: without login. A node's token authenticates all except the lookup. */
import type { Route } from '../../server/route';
import { heartbeatRoute } from './heartbeat';
import { inspectionRoute } from './inspection';
import { lookupRoute } from './lookup';

export const ramdiskRoutes: Route[] = [lookupRoute, heartbeatRoute, inspectionRoute];
