/** Nodes and runs of every sort that pages tell apart: what waits, what tries again, what failed, what is well. */
import type { TestApi } from './api';
import { happened, runningRun, type SeenRun } from './happenings';
import { rolloutOf } from './rule-world';

export type ConsoleWorld = {
  readonly parked: SeenRun;
  readonly retrying: SeenRun;
  readonly failed: SeenRun;
  /** Waits at the end of its first wave; the tenant of its node is asked. */
  readonly rollout: string;
};

type Step = Readonly<Record<string, unknown>>;
const stepsOf = async (api: TestApi, { run }: SeenRun, steps: readonly Step[]): Promise<void> => {
  for (const [index, step] of steps.entries())
    await api.sql`insert into run_steps ${api.sql({ run_id: run, index, attempt: 1, attempts: 1, ...step } as never)}`;
};

const boot = { interface: 'management', step: 'set_boot_device', state: 'done', note: 'disk, for the next boot' };
const reboot = { interface: 'power', step: 'reboot' };
const indicator = { interface: 'management', step: 'set_indicator', state: 'pending', attempt: 0, attempts: 0 };
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);

/** Five BMCs of a rack and a feed that went silent, and two nodes that someone has to release. */
const fleetInTrouble = async (api: TestApi): Promise<void> => {
  await api.sql`insert into nodes (name, driver, provision_state, power_state, resource_class, owner, properties)
    select 'blade-' || n, 'redfish', 'available', 'power off', 'compute', 'project-owner', jsonb_build_object('rack', 'r3', 'unit', n, 'power_feed', 'A', 'serial_number', 'SN-00' || n)
    from generate_series(1, 8) n`;
  await api.sql`update nodes set fault = 'power failure', maintenance = true, maintenance_reason = 'The BMC does not answer.' where name in ('blade-1', 'blade-2', 'blade-3', 'blade-4', 'blade-5')`;
  for (const name of ['held-1', 'held-2']) {
    const held = await runningRun(api, { state: 'waiting', waiting_for: 'unhold', node_name: name, kind: 'clean', verb: 'clean', started_at: ago(9), created_at: ago(9) });
    await api.sql`update nodes set name = ${name}, driver = 'redfish', provision_state = 'clean hold', reservation = ${held.run}, lessee = null, provision_updated_at = ${ago(9)}, properties = '{"rack": "r2", "unit": 20}' where uuid = ${held.node}`;
  }
}; // biome-ignore format: one statement a line

/** Causes by their error codes; a run of each day. */
const codes = ['BmcJobFailed', 'BmcStuck', 'BmcUnreachable', 'AgentTimeout', 'BmcJobFailed', 'BmcServerError'];

/** Two weeks of ended runs, of a node of their own. */
const past = async (api: TestApi): Promise<void> => {
  const { node, run } = await runningRun(api, { state: 'succeeded', finished_at: ago(200), node_name: 'past-1' });
  await api.sql`update nodes set name = 'past-1', properties = '{"rack": "r1", "unit": 30}', lessee = null where uuid = ${node}`;
  await api.sql`
    insert into runs (id, node_uuid, node_name, fence, kind, verb, state, input, owner, lease_id, requester, rule_set, workflow_id, created_at, started_at, finished_at, error_code)
    select gen_random_uuid(), node_uuid, node_name, fence, 'deploy', 'active', case when n % 5 = 0 then 'failed' else 'succeeded' end, input, owner, lease_id, requester,
      rule_set, workflow_id || n, at, at, at + (200 + n) * interval '1 second', case when n % 5 = 0 then (${codes}::text[])[1 + n / 5 % 6] end
    from runs, generate_series(1, 90) n, lateral (select now() - (n * 3.6 + 1) * interval '1 hour' as at) times where id = ${run}`;
}; // biome-ignore format: one statement a line

/**
 * What is named rack-1 waits for a decision; rack-2 tries again, rack-3 has failed; rack-4 to rack-9 are free. Five of the blades are one
 * incident, held-1 and held-2 are on hold.
 */
export const consoleWorld = async (api: TestApi): Promise<ConsoleWorld> => {
  const begun = { cursor: 1, started_at: ago(12), created_at: ago(12) };
  const parked = await runningRun(api, { ...begun, state: 'parked', node_name: 'rack-1', last_error: null, runbook_name: 'CUSTOM_RESTART' }); // biome-ignore format: one row
  const retrying = await runningRun(api, { ...begun, state: 'running', node_name: 'rack-2' });
  const failed = await runningRun(api, { ...begun, state: 'failed', node_name: 'rack-3', finished_at: ago(2), last_error: 'The BMC of node rack-3 refused the credentials on record.' }); // biome-ignore format: one row
  const done = { ...boot, started_at: ago(12), finished_at: ago(11) };
  const lost = 'The BMC did not say whether the node was restarted; a person has to decide.';
  await stepsOf(api, parked, [done, { ...reboot, state: 'parked', last_error: lost, attempt: 5, attempts: 5, started_at: ago(11) }, indicator]); // biome-ignore format: one row
  await stepsOf(api, retrying, [done, { ...reboot, state: 'running', act: 'power_off', last_error: 'The BMC did not answer.', attempt: 3, attempts: 3, started_at: ago(1) }]); // biome-ignore format: one row
  await stepsOf(api, failed, [done, { ...reboot, state: 'failed', last_error: 'HTTP 401', started_at: ago(11), finished_at: ago(2) }]); // biome-ignore format: one row
  await api.sql`update nodes set name = 'rack-1', power_state = 'power on', resource_class = 'compute', provision_state = 'servicing',
    target_provision_state = 'active', reservation = ${parked.run} where uuid = ${parked.node}`;
  await api.sql`update nodes set name = 'rack-2', power_state = 'power on', provision_state = 'servicing', reservation = ${retrying.run} where uuid = ${retrying.node}`;
  await api.sql`update nodes set name = 'rack-3', power_state = 'power off', provision_state = 'service failed', maintenance = true,
    fault = 'service failure', maintenance_reason = 'the service run failed', last_error = 'HTTP 401' where uuid = ${failed.node}`;
  await api.sql`insert into nodes (name, driver, provision_state, power_state, resource_class, owner)
    select 'rack-' || n, 'redfish', 'available', 'power off', 'compute', 'project-owner' from generate_series(4, 9) n`;
  await api.sql`update nodes set properties = jsonb_build_object('rack', 'r1', 'unit', right(name, 1)::int) where name like 'rack-%'`;
  await fleetInTrouble(api);
  await past(api);
  await happened(api, parked, 'run.accepted', { from: 'active', to: 'servicing' }, ago(12));
  await happened(
    api,
    parked,
    'step.tried',
    { step: 'power.reboot', attempt: 4, error: 'The BMC did not answer.' },
    ago(8),
  );
  await happened(api, parked, 'step.parked', { step: 'power.reboot', error: lost }, ago(7));
  const steps = [
    { interface: 'management', step: 'set_boot_device', order: 1, args: { boot_device: 'disk' } },
    { ...reboot, order: 2, args: {} },
    { interface: 'management', step: 'set_indicator', order: 3, args: { state: 'blinking' } },
  ];
  await api.as('owner-manager', 'POST', '/v1/runbooks', { body: { name: 'CUSTOM_RESTART', steps } });
  const shorter = [
    { ...reboot, order: 1, args: {} },
    { interface: 'power', step: 'power_on', order: 2, args: {} },
  ];
  const described = {
    op: 'add',
    path: '/description',
    value: 'Boot from disk once, restart, then light the identification LED.',
  };
  for (const value of [shorter, steps])
    await api.as('owner-manager', 'PATCH', '/v1/runbooks/CUSTOM_RESTART', {
      body: [described, { op: 'replace', path: '/steps', value }],
    });
  const rollout = await rolloutOf(api, failed.node, 'paused');
  await api.sql`update rollouts set reason = 'Wave 1 is over. Open wave 2 to continue.' where id = ${rollout}`;
  await api.sql`update rollout_targets set state = 'asked', node_name = 'rack-3', owner = 'project-owner', lessee = 'project-lessee',
    not_before = now() + interval '5 hours' where rollout = ${rollout}`;
  await api.sql`insert into rollout_counters (rollout, number, scope, value, budget, failed) values (${rollout}, 1, 'total', '', 3, 1)`;
  await api.sql`insert into webhooks (uuid, project, url, kinds, description)
    values (${webhookOfWorld}, 'project-owner', 'https://hooks.example.org/t', array['run.*'], 'on call')`;
  return { parked, retrying, failed, rollout };
};

export const webhookOfWorld = 'b7a5e0f2-3c1d-4e8a-9f60-5d2c7b1a4e93';

/** Every page of the console in that world. */
export const pagesOf = ({ parked, failed, rollout }: ConsoleWorld): string[] => [
  '/',
  '/?by=class',
  '/inbox',
  '/search?q=rack',
  '/nodes',
  '/nodes/rack-1',
  '/nodes/rack-1?show=problems',
  '/nodes/rack-3',
  '/nodes/rack-1/hardware',
  '/nodes/rack-1/deploy',
  '/nodes/rack-4/deploy',
  '/nodes/rack-1/console',
  '/nodes/rack-1/access',
  '/nodes/rack-1/audit',
  '/runs',
  `/runs/${parked.run}`,
  `/runs/${failed.run}`,
  '/nodes/rack-1/plan?runbook=CUSTOM_RESTART&verb=service',
  '/rollouts',
  '/rollouts/new?node=rack-1&node=rack-4',
  `/rollouts/${rollout}`,
  `/rollouts/${rollout}/report`,
  `/rollouts/${rollout}/targets/0`,
  '/windows',
  '/windows/budgets',
  '/notifications',
  `/notifications/${webhookOfWorld}`,
  '/runbooks',
  '/runbooks/new',
  '/runbooks/CUSTOM_RESTART',
  '/runbooks/CUSTOM_RESTART/edit',
  '/runbooks/CUSTOM_RESTART/compare?from=1&to=2',
  '/allocations',
  '/policy?rule=temper:run:skip&kind=node&object=rack-1',
  '/audit',
  '/audit?node=rack-1',
  '/audit/timeline?node=rack-1',
  '/audit/rule?rule=baremetal%3Anode%3Aupdate',
  '/many-nodes?node=rack-1&node=rack-4&change=maintenance-on&reason=walk',
  '/system',
  '/scope',
  '/styleguide',
  '/no-such-page',
];
