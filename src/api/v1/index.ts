/** Every resource's routes, one line each. */
import type { Route } from '../route';
import { runActRoutes } from '../temper/run-acts';
import { runRoutes } from '../temper/runs';
import { stepRoutes } from '../temper/steps';
import { conductorRoutes } from './conductors';
import { driverRoutes } from './drivers';
import { nodeCreateRoutes } from './node-create';
import { nodeMaintenanceRoutes } from './node-maintenance';
import { nodePatchRoutes } from './node-patch';
import { nodeProvisionRoutes } from './node-provision';
import { nodeStateRoutes } from './node-states';
import { nodeTraitRoutes } from './node-traits';
import { nodeValidateRoutes } from './node-validate';
import { nodeRoutes } from './nodes';
import { portRoutes } from './ports';
import { rootRoutes } from './root';
import { runbookTraitRoutes } from './runbook-traits';
import { runbookRoutes } from './runbooks';

export const routes: readonly Route[] = [
  ...rootRoutes,
  ...nodeRoutes,
  ...nodeCreateRoutes,
  ...nodePatchRoutes,
  ...nodeStateRoutes,
  ...nodeProvisionRoutes,
  ...nodeMaintenanceRoutes,
  ...nodeTraitRoutes,
  ...nodeValidateRoutes,
  ...portRoutes,
  ...runbookRoutes,
  ...runbookTraitRoutes,
  ...driverRoutes,
  ...conductorRoutes,
  ...runRoutes,
  ...runActRoutes,
  ...stepRoutes,
];
