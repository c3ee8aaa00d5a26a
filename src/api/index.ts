/** Public interface of the API. */
import { describe } from './openapi';
import { routes } from './routes';

export { createAuditTrail } from './audit/middleware';
export type { ApiContext, ContextSettings as Settings } from './context';
export { resourceTables } from './openapi/resources';
export { onlyRamdisks, withoutRamdisks } from './server/ramdisk-listener';
export type { Route } from './server/route';
export { createApi } from './server/server';
export { createStreams } from './streams/event-streams';
export { routes };

export const describeApi = () => describe(routes);
