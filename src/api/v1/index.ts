/** Every resource's routes, one line each. */
import type { Route } from '../route';
import { nodeCreateRoutes } from './node-create';
import { nodeRoutes } from './nodes';
import { rootRoutes } from './root';

export const routes: readonly Route[] = [...rootRoutes, ...nodeCreateRoutes, ...nodeRoutes];
