/** Renders the API's description from the routes and tables that it is served by. */
import { describeApi } from '../../src/api';

/** docs/openapi.json */
export const renderOpenapi = (): string => `${JSON.stringify(describeApi(), null, 1)}\n`;
