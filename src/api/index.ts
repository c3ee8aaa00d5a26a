/** The door of the API room. */
import { describe } from './description';
import { routes } from './v1';

export { resourceTables } from './description/resources';
export { onlyRamdisks, withoutRamdisks } from './ramdisk-door';
export { defaultSettings, type Log, type Rooms, type Settings } from './rooms';
export type { Answer, Asking, Route } from './route';
export { createApi } from './server';
export { createStreams, type Streams } from './streams';
export { createTrail, type Trail } from './trail';
export { routes };

/** The description of the whole API, in OpenAPI 3.1. */
export const describeApi = () => describe(routes);
