/** What ramdisks ask of the API: without a login, a node's own token authenticates the rest. */
import type { Route } from '../../http/route';
import { heartbeatRoute } from './heartbeat';
import { inspectionRoute } from './inspection';
import { lookupRoute } from './lookup';

export const ramdiskRoutes: Route[] = [lookupRoute, heartbeatRoute, inspectionRoute];
