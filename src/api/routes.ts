/** Route table of the API: the routes of every resource. */
import type { Route } from './server/route';
import { bulkRoutes } from './temper/bulk';
import { consoleTicketRoutes } from './temper/console-tickets';
import { descriptionRoutes } from './temper/description';
import { allEventRoutes } from './temper/events/all-events';
import { firmwareRoutes } from './temper/firmware';
import { incidentRoutes } from './temper/incidents';
import { auditRoutes } from './temper/policy/audit';
import { canRoutes } from './temper/policy/can';
import { policyRoutes } from './temper/policy/policy';
import { discoveredMachineRoutes } from './temper/records/discovered-machines';
import { imageRoutes } from './temper/records/images';
import { ramdiskRecordRoutes } from './temper/records/ramdisks';
import { webhookRoutes } from './temper/records/webhooks';
import { runReportRoutes } from './temper/reports/runs';
import { usageRoutes } from './temper/reports/usage';
import { rolloutActRoutes } from './temper/rollouts/acts';
import { rolloutApprovalRoutes } from './temper/rollouts/approvals';
import { disruptionBudgetRoutes } from './temper/rollouts/disruption-budgets';
import { rolloutPreviewRoutes } from './temper/rollouts/preview';
import { rolloutProgressRoutes } from './temper/rollouts/progress';
import { windowRoutes } from './temper/rollouts/project-windows';
import { rolloutEventRoutes } from './temper/rollouts/rollout-events';
import { rolloutRoutes } from './temper/rollouts/rollouts';
import { rolloutTargetRoutes } from './temper/rollouts/targets';
import { runbookCheckRoutes } from './temper/runbooks/checks';
import { runbookParameterRoutes } from './temper/runbooks/parameters';
import { runbookRevisionRoutes } from './temper/runbooks/revisions';
import { runActRoutes } from './temper/runs/acts';
import { freezeRoutes } from './temper/runs/freezes';
import { runListRoutes } from './temper/runs/list';
import { nodePlanRoutes } from './temper/runs/node-plans';
import { recoveryRoutes } from './temper/runs/recovery';
import { runRerunRoutes } from './temper/runs/reruns';
import { runEventRoutes } from './temper/runs/run-events';
import { runRoutes } from './temper/runs/runs';
import { stepRoutes } from './temper/runs/steps';
import { searchRoutes } from './temper/search';
import { summaryRoutes } from './temper/summary';
import { allocationRoutes } from './v1/allocations/allocations';
import { chassisRoutes } from './v1/chassis';
import { chassisNodeRoutes } from './v1/chassis-nodes';
import { conductorRoutes } from './v1/conductors';
import { driverVendorPassthruRoutes } from './v1/driver-vendor-passthru';
import { driverRoutes } from './v1/drivers';
import { eventRoutes } from './v1/events';
import { inspectionRuleRoutes } from './v1/inspection-rules';
import { nestedRoutes } from './v1/nested';
import { nodeAllocationRoutes } from './v1/nodes/allocation';
import { nodeBootStateRoutes } from './v1/nodes/boot-states';
import { childrenRoutes } from './v1/nodes/children';
import { nodeConsoleRoutes } from './v1/nodes/console';
import { nodeCreateRoutes } from './v1/nodes/create';
import { nodeDetailRoutes } from './v1/nodes/details';
import { nodeHistoryRoutes } from './v1/nodes/history';
import { nodeIndicatorRoutes } from './v1/nodes/indicators';
import { nodeMaintenanceRoutes } from './v1/nodes/maintenance';
import { nodeManagementRoutes } from './v1/nodes/management';
import { nodeRoutes } from './v1/nodes/nodes';
import { nodePatchRoutes } from './v1/nodes/patch';
import { nodeProvisionRoutes } from './v1/nodes/provision';
import { nodeStateRoutes } from './v1/nodes/states';
import { nodeTraitRoutes } from './v1/nodes/traits';
import { nodeValidateRoutes } from './v1/nodes/validate';
import { vendorPassthruRoutes } from './v1/nodes/vendor-passthru';
import { nodeVifRoutes } from './v1/nodes/vifs';
import { nodeVmediaRoutes } from './v1/nodes/vmedia';
import { portgroupRoutes } from './v1/ports/portgroups';
import { portRoutes } from './v1/ports/ports';
import { ramdiskRoutes } from './v1/ramdisk/ramdisk';
import { rootRoutes } from './v1/root';
import { deployTemplateRoutes } from './v1/runbooks/deploy-templates';
import { runbookRoutes } from './v1/runbooks/runbooks';
import { runbookTraitRoutes } from './v1/runbooks/traits';
import { shardRoutes } from './v1/shards';
import { volumeRoutes } from './v1/volumes';

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
  ...nodePlanRoutes,
  ...ramdiskRoutes,
  ...webhookRoutes,
  ...ramdiskRecordRoutes,
  ...imageRoutes,
  ...discoveredMachineRoutes,
  ...disruptionBudgetRoutes,
  ...windowRoutes,
  ...consoleTicketRoutes,
  ...freezeRoutes,
  ...firmwareRoutes,
  ...policyRoutes,
  ...canRoutes,
  ...summaryRoutes,
  ...bulkRoutes,
  ...searchRoutes,
  ...incidentRoutes,
  ...runReportRoutes,
  ...usageRoutes,
  ...allEventRoutes,
  ...recoveryRoutes,
  ...auditRoutes,
  ...runListRoutes,
  ...runbookCheckRoutes,
  ...runbookRevisionRoutes,
  ...runbookParameterRoutes,
  ...rolloutRoutes,
  ...rolloutPreviewRoutes,
  ...rolloutProgressRoutes,
  ...rolloutActRoutes,
  ...rolloutApprovalRoutes,
  ...rolloutTargetRoutes,
  ...rolloutEventRoutes,
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
