/** Every resource's routes, one line each. */
import type { Route } from '../route';
import { auditRoutes } from '../temper/audit';
import { descriptionRoutes } from '../temper/description';
import { freezeRoutes } from '../temper/freezes';
import { policyRoutes } from '../temper/policy';
import { recoveryRoutes } from '../temper/recovery';
import { runActRoutes } from '../temper/run-acts';
import { runEventRoutes } from '../temper/run-events';
import { runListRoutes } from '../temper/run-list';
import { runRerunRoutes } from '../temper/run-reruns';
import { runbookCheckRoutes } from '../temper/runbook-checks';
import { runRoutes } from '../temper/runs';
import { stepRoutes } from '../temper/steps';
import { webhookRoutes } from '../temper/webhooks';
import { allocationRoutes } from './allocations';
import { chassisRoutes } from './chassis';
import { chassisNodeRoutes } from './chassis-nodes';
import { childrenRoutes } from './children';
import { conductorRoutes } from './conductors';
import { deployTemplateRoutes } from './deploy-templates';
import { driverVendorPassthruRoutes } from './driver-vendor-passthru';
import { driverRoutes } from './drivers';
import { eventRoutes } from './events';
import { inspectionRuleRoutes } from './inspection-rules';
import { nestedRoutes } from './nested';
import { nodeAllocationRoutes } from './node-allocation';
import { nodeBootStateRoutes } from './node-boot-states';
import { nodeConsoleRoutes } from './node-console';
import { nodeCreateRoutes } from './node-create';
import { nodeDetailRoutes } from './node-details';
import { nodeHistoryRoutes } from './node-history';
import { nodeIndicatorRoutes } from './node-indicators';
import { nodeMaintenanceRoutes } from './node-maintenance';
import { nodeManagementRoutes } from './node-management';
import { nodePatchRoutes } from './node-patch';
import { nodeProvisionRoutes } from './node-provision';
import { nodeStateRoutes } from './node-states';
import { nodeTraitRoutes } from './node-traits';
import { nodeValidateRoutes } from './node-validate';
import { nodeVifRoutes } from './node-vifs';
import { nodeVmediaRoutes } from './node-vmedia';
import { nodeRoutes } from './nodes';
import { portgroupRoutes } from './portgroups';
import { portRoutes } from './ports';
import { ramdiskRoutes } from './ramdisk';
import { rootRoutes } from './root';
import { runbookTraitRoutes } from './runbook-traits';
import { runbookRoutes } from './runbooks';
import { shardRoutes } from './shards';
import { vendorPassthruRoutes } from './vendor-passthru';
import { volumeRoutes } from './volumes';

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
  ...nodeDetailRoutes,
  ...nodeManagementRoutes,
  ...nodeIndicatorRoutes,
  ...nodeVmediaRoutes,
  ...nodeBootStateRoutes,
  ...nodeHistoryRoutes,
  ...portRoutes,
  ...allocationRoutes,
  ...nodeAllocationRoutes,
  ...runbookRoutes,
  ...runbookTraitRoutes,
  ...driverRoutes,
  ...conductorRoutes,
  ...runRoutes,
  ...runActRoutes,
  ...runRerunRoutes,
  ...runEventRoutes,
  ...stepRoutes,
  ...ramdiskRoutes,
  ...webhookRoutes,
  ...freezeRoutes,
  ...policyRoutes,
  ...recoveryRoutes,
  ...auditRoutes,
  ...runListRoutes,
  ...runbookCheckRoutes,
  ...chassisRoutes,
  ...chassisNodeRoutes,
  ...portgroupRoutes,
  ...volumeRoutes,
  ...deployTemplateRoutes,
  ...inspectionRuleRoutes,
  ...shardRoutes,
  ...nodeVifRoutes,
  ...nodeConsoleRoutes,
  ...vendorPassthruRoutes,
  ...childrenRoutes,
  ...nestedRoutes,
  ...driverVendorPassthruRoutes,
  ...eventRoutes,
  ...descriptionRoutes(() => routes),
];
