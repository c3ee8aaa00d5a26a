/** Public interface of the API. */
import { describe } from './openapi';
import { routes } from './routes';

export { createAuditTrail } from './audit/middleware';
export type { ApiContext, ContextSettings as Settings } from './context';
export { createStreams } from './http/event-streams';
export { onlyRamdisks, withoutRamdisks } from './http/ramdisk-listener';
export type { Route } from './http/route';
export { createApi } from './http/server';
export { resourceTables } from './openapi/resources';
export { routes };

export const describeApi = () => describe(routes);
