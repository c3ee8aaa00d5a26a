/** Routes of the console. */
import type { RequestListener } from 'node:http';
import { allocationsPage } from './pages/allocations';
import { auditPage } from './pages/audit';
import { auditFile } from './pages/audit-files';
import { auditRulePage } from './pages/audit-rule';
import { auditTimelinePage } from './pages/audit-timeline';
import { addBudget, budgetsPage, removeBudget } from './pages/disruption-budgets';
import { enrolNode } from './pages/first-steps';
import { inboxPage } from './pages/inbox';
import { acknowledgeIncident } from './pages/incidents';
import { actOnMany } from './pages/many';
import { changeManyNodes, manyNodesPage } from './pages/many-nodes';
import { nodePage } from './pages/node';
import { actOnNode } from './pages/node-acts';
import { actOnDeploy } from './pages/node-deploy-acts';
import { nodePlanPage } from './pages/node-plan';
import { nodesPage } from './pages/nodes';
import { addWebhook, notificationsPage, removeWebhook, switchWebhook, webhookPage } from './pages/notifications';
import { overviewPage } from './pages/overview';
import { policyPage } from './pages/policy';
import { actOnRollout, rolloutPage } from './pages/rollout';
import { planRollout, previewRollout, rolloutPlanPage } from './pages/rollout-plan';
import { rolloutReportPage, rolloutSheet } from './pages/rollout-report';
import { rolloutsPage } from './pages/rollouts';
import { actOnRun, runPage } from './pages/run';
import { editRunbook, editRunbookPage, newRunbookPage } from './pages/runbook-editor';
import { comparePage, runbookPage, runbooksPage } from './pages/runbooks';
import { runsPage } from './pages/runs';
import { scopePage } from './pages/scope';
import { searchPage } from './pages/search';
import { styleguidePage } from './pages/styleguide';
import { systemPage } from './pages/system';
import { actOnTarget, targetPage } from './pages/target';
import { addWindow, removeWindow, windowsPage } from './pages/windows';
import type { ConsoleSettings } from './server/context';
import { streamOf } from './server/live';
import { type ConsoleRoute, createConsole } from './server/server';

const eventsOf = (about: 'node' | 'run') =>
  streamOf(({ params }) => `/temper/v1/events?${about}=${encodeURIComponent(params[about]!)}`);

const consoleRoutes: readonly ConsoleRoute[] = [
  { get: '/', page: overviewPage },
  { get: '/inbox', page: inboxPage },
  { post: '/inbox/acts', form: actOnMany },
  { post: '/incidents/acknowledge', form: acknowledgeIncident },
  { get: '/search', page: searchPage },
  { stream: '/live', run: streamOf(() => '/temper/v1/events') },
  { get: '/nodes', page: nodesPage },
  { post: '/nodes/enrol', form: enrolNode },
  { get: '/many-nodes', page: manyNodesPage },
  { post: '/many-nodes', form: changeManyNodes },
  { get: '/nodes/:node', page: nodePage('activity') },
  { get: '/nodes/:node/hardware', page: nodePage('hardware') },
  { get: '/nodes/:node/deploy', page: nodePage('deploy') },
  { post: '/nodes/:node/deploy', form: actOnDeploy },
  { get: '/nodes/:node/console', page: nodePage('console') },
  { get: '/nodes/:node/access', page: nodePage('access') },
  { get: '/nodes/:node/audit', page: nodePage('audit') },
  { stream: '/nodes/:node/live', run: eventsOf('node') },
  { post: '/nodes/:node/acts', form: actOnNode },
  { get: '/nodes/:node/plan', page: nodePlanPage },
  { get: '/runs', page: runsPage },
  { get: '/runs/:run', page: runPage },
  { stream: '/runs/:run/live', run: eventsOf('run') },
  { post: '/runs/:run/:act', form: actOnRun },
  { get: '/rollouts', page: rolloutsPage },
  { get: '/rollouts/new', page: rolloutPlanPage },
  { post: '/rollouts/new', form: planRollout },
  { post: '/rollouts/new/preview', form: previewRollout },
  { get: '/rollouts/:rollout', page: rolloutPage },
  { get: '/rollouts/:rollout/report', page: rolloutReportPage },
  { stream: '/rollouts/:rollout/report.csv', run: rolloutSheet },
  { post: '/rollouts/:rollout/:act', form: actOnRollout },
  { get: '/rollouts/:rollout/targets/:position', page: targetPage },
  { post: '/rollouts/:rollout/targets/:position/:act', form: actOnTarget },
  { get: '/runbooks', page: runbooksPage },
  { get: '/runbooks/new', page: newRunbookPage },
  { post: '/runbooks/new', form: editRunbook },
  { get: '/runbooks/:runbook', page: runbookPage },
  { get: '/runbooks/:runbook/edit', page: editRunbookPage },
  { post: '/runbooks/:runbook/edit', form: editRunbook },
  { get: '/runbooks/:runbook/compare', page: comparePage },
  { get: '/notifications', page: notificationsPage },
  { post: '/notifications', form: addWebhook },
  { get: '/notifications/:webhook', page: webhookPage },
  { post: '/notifications/:webhook/enable', form: switchWebhook(true) },
  { post: '/notifications/:webhook/disable', form: switchWebhook(false) },
  { post: '/notifications/:record/remove', form: removeWebhook },
  { get: '/windows', page: windowsPage },
  { post: '/windows', form: addWindow },
  { post: '/windows/:record/remove', form: removeWindow },
  { get: '/windows/budgets', page: budgetsPage },
  { post: '/windows/budgets', form: addBudget },
  { post: '/windows/budgets/:record/remove', form: removeBudget },
  { get: '/allocations', page: allocationsPage },
  { get: '/policy', page: policyPage },
  { get: '/audit', page: auditPage },
  { get: '/audit/rule', page: auditRulePage },
  { get: '/audit/timeline', page: auditTimelinePage },
  { stream: '/audit/rows.csv', run: auditFile('csv') },
  { stream: '/audit/rows.json', run: auditFile('json') },
  { get: '/system', page: systemPage },
  { get: '/scope', page: scopePage },
  { get: '/styleguide', page: styleguidePage },
];

/** @param report receives the console's internal errors */
export const consoleListener = (settings: ConsoleSettings, report: (thrown: unknown) => void): RequestListener =>
  createConsole(settings, consoleRoutes, report);
