/** The page of a plan: what it says of data, as far as that is known. */
import { renderToString } from 'preact-render-to-string';
import { nodePlanPage } from '../../src/console/pages/node-plan';
import type { PageContext } from '../../src/console/server/context';
import type { NodePlan } from '../../src/wire/runs';

const plan: NodePlan = {
  node_uuid: 'u',
  node_name: 'rack-1',
  verb: 'service',
  does: 'run',
  provision_state: 'active',
  target_provision_state: null,
  runbook: null,
  parameters: null,
  firmware: null,
  would_run: false,
  refusals: [],
  concerns: [],
  steps: [],
  power_cycles: 0,
  erases: null,
  expected_ms: null,
  p95_ms: null,
};

test.each([
  [true, 'is erased'],
  [false, 'stays'],
  [null, 'may be erased; only the ramdisk or the BMC knows'],
])('erases: %s', async (erases, says) => {
  const api = { ask: async () => ({ ...plan, erases }) };
  const context = { api, params: { node: 'rack-1' }, query: {}, session: {} } as unknown as PageContext;
  const page = await nodePlanPage(context);
  expect('body' in page && renderToString(page.body)).toContain(`<dt>Data</dt><dd>${says}</dd>`);
});
