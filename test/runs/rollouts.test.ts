/** Rollouts from the plan to the end: asked for over HTTP, begun by a control worker, their runs on a real engine. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { Worker } from '@temporalio/worker';
import { keptHistory } from '../../scripts/lib/history';
import { createInventory } from '../../src/inventory';
import { createVault } from '../../src/inventory/secrets/vault';
import { raise } from '../../src/model/errors';
import type { GateAnswer } from '../../src/model/rollouts/gates';
import { restored } from '../../src/model/runs/recovery';
import { createPolicy, type PolicyOptions } from '../../src/policy';
import { beginTarget } from '../../src/rollouts/admit';
import type { Authority, RolloutDeps } from '../../src/rollouts/contract';
import { createGates, type Gates } from '../../src/rollouts/gates';
import { createPrepareFor } from '../../src/rollouts/prepare';
import { runWaking, wakeOnce, wakeSilent } from '../../src/rollouts/waking';
import { createRuns } from '../../src/runs';
import { createEngine } from '../../src/runs/engine';
import { rolloutId } from '../../src/workflows/contract';
import { startTestApi, type TestApi } from '../support/api';
import { quickTiming, startEngineWorld, type World } from '../support/engine';
import { keepTables } from '../support/kept-tables';
import { bmcWorker } from '../support/recording-driver';
import { brokenCounters } from '../support/rollouts';
import { workflowBundle } from '../support/servers';
import { defaultSettings } from '../support/settings';
import { owner, type Persona, stranger } from '../support/world';

const quiet = { info() {}, warn() {}, error() {}, debug() {} };
let world: World;
let api: TestApi;
let deps: RolloutDeps;
let policy = createPolicy({ set: 'temper' });
let authority: Authority = async () => 'holds';
let gates: Gates | undefined;
let stopWaking: () => Promise<void>;
const gateVault = createVault(new Map([['gates', randomBytes(32)]]));
const { withActs } = bmcWorker(() => world);

const setPolicy = (options: PolicyOptions): void => {
  policy = createPolicy(options);
  api.setPolicy(options);
};

/** An act that waits until it is released. */
const held = () => {
  let [release, arrive] = [() => {}, () => {}];
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return {
    reached,
    release: () => release(),
    at: (): Promise<void> => {
      arrive();
      return released;
    },
  };
};

beforeAll(async () => {
  world = await startEngineWorld();
  const inventory = createInventory(world.pools.control);
  const engine = createEngine(world.client);
  deps = {
    inventory,
    runs: createRuns({
      inventory,
      vault: world.vault,
      client: world.client,
      timing: quickTiming,
      log: quiet,
      queuePrefix: world.prefix,
    }),
    prepareFor: createPrepareFor({ policy: () => policy, inventory, settings: defaultSettings }),
    authority: (...asked) => authority(...asked),
    policy: () => policy,
    get gates() {
      return gates;
    },
    log: quiet,
  };
  await world.control({ rollouts: deps });
  api = await startTestApi({ database: world.database, runs: world.runs });
  const ending = new AbortController();
  const waking = runWaking(
    { inventory, wake: (rollout) => engine.wake(rollout, world.prefix), log: quiet },
    ending.signal,
  );
  stopWaking = async () => {
    ending.abort();
    await waking;
  };
  await world.sql`
    insert into workers (hostname, drivers, role, updated_at) values ('w', '{fake-hardware}', 'bmc', now() + interval '1 day')`;
  await made('owner-manager', '/v1/runbooks', {
    name: 'CUSTOM_RESTART',
    steps: [{ interface: 'power', step: 'reboot', args: {}, order: 1 }],
    owner,
  });
});
afterAll(async () => {
  await stopWaking?.();
  await api?.close();
  await world?.close();
});
beforeEach(() => {
  authority = async () => 'holds';
  gates = undefined;
  setPolicy({ set: 'temper' });
});

const made = async (who: Persona, path: string, body: unknown) => {
  const reply = await api.as(who, 'POST', path, { body });
  if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
  return reply.body;
};
const act = (
  rollout: { uuid: string; plan_hash: string },
  name: string,
  body: object = {},
  who: Persona = 'owner-manager',
) => api.as(who, 'POST', `/temper/v1/rollouts/${rollout.uuid}/${name}`, { body: { reason: 'because', ...body } });
const start = async (rollout: { uuid: string; plan_hash: string }) => {
  const reply = await act(rollout, 'start', { plan_hash: rollout.plan_hash });
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.body;
};
const show = async (rollout: { uuid: string }) =>
  (await api.as('owner-manager', 'GET', `/temper/v1/rollouts/${rollout.uuid}`)).body;
const targets = async (rollout: { uuid: string }, query = '') =>
  (await api.as('owner-manager', 'GET', `/temper/v1/rollouts/${rollout.uuid}/targets${query}`)).body.targets;
const reaches = (rollout: { uuid: string }, state: string) =>
  world.until(async () => {
    const now = await show(rollout);
    return now.state === state ? now : undefined;
  });

const nodes = (racks: readonly string[], values: object = {}) =>
  Promise.all(
    racks.map((rack, index) =>
      world.node({
        name: `r${index}-${Math.random().toString(36).slice(2, 8)}`,
        owner,
        provision_state: 'active',
        traits: ['CUSTOM_RESTART'],
        properties: world.sql.json({ rack }),
        ...values,
      }),
    ),
  );
const plan = async (over: object = {}, who: Persona = 'owner-manager') =>
  made(who, '/temper/v1/rollouts', { runbook: 'CUSTOM_RESTART', budget: { total: '100%' }, ...over });

/** The system's rollouts ask no tenant. */
const unasked: PolicyOptions = {
  set: 'temper',
  overrides: { 'temper:rollout:without_consent': 'role:admin and system_scope:all' },
};

/** A webhook that gates may name. */
const gateOf = async (): Promise<string> => {
  const [row] = await world.sql<{ uuid: string }[]>`
    insert into webhooks (url, kinds, enabled) values ('https://gate.example.org/', '{window.deleted}', true) returning uuid`;
  return row!.uuid;
};

// By its name a runbook approves nodes with that trait, as set temper has it.
test('a plan of three nodes runs in waves, waits for a person after the first, and succeeds', async () => {
  const calls = await withActs();
  const rollout = await plan({ select: { nodes: await nodes(['r1', 'r1', 'r2']) } });
  expect(rollout).toMatchObject({
    state: 'planned',
    runbook: { name: 'CUSTOM_RESTART', revision: 1 },
    summary: { selected: 3, will_run: 3, refused: [], waves: [1, 2], restarts: 3, erased: 0 },
    states: { pending: 3 },
  });
  expect(calls).toEqual([]);
  await start(rollout);
  expect(await reaches(rollout, 'paused')).toMatchObject({ code: 'wave_gate', states: { done: 1, pending: 2 } });
  expect((await act(rollout, 'advance', { expected_wave: 2 })).status).toBe(409);
  expect((await act(rollout, 'advance', { expected_wave: 1 })).status).toBe(200);
  expect(await reaches(rollout, 'succeeded')).toMatchObject({
    states: { done: 3 },
    grant: { user_name: expect.any(String) },
  });
  expect(calls.filter((name) => name === 'power_on')).toHaveLength(3);
  const [first] = await targets(rollout, '?state=done');
  expect((await api.as('owner-manager', 'GET', `/temper/v1/runs/${first.run}`)).body).toMatchObject({
    batch: rollout.uuid,
  });

  const handle = world.client.workflow.getHandle(rolloutId(rollout.uuid));
  await handle.result();
  const history = await handle.fetchHistory();
  await Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundle() } }, history, handle.workflowId);
  const recording = process.env.TEMPER_RECORD_HISTORIES;
  const file = join(__dirname, `../replay/histories/rollout.succeeded.${recording}.json`);
  if (recording && !existsSync(file)) writeFileSync(file, keptHistory(handle.workflowId, historyToJSON(history)));
});

test('a tenant of the node is asked first, unless a rule says otherwise', async () => {
  const select = { nodes: await nodes(['r1'], { lessee: stranger }) };
  await made('operator', '/v1/runbooks', {
    name: 'CUSTOM_PUBLIC',
    public: true,
    steps: [{ interface: 'power', step: 'reboot', args: {}, order: 1 }],
  });
  await world.sql`update nodes set traits = '{CUSTOM_PUBLIC}' where uuid = ${select.nodes[0]!}`;
  const asked = await plan({ select, runbook: 'CUSTOM_PUBLIC' }, 'operator');
  expect(asked.summary).toMatchObject({ will_run: 1, need_consent: 1, projects: [owner, stranger] });
  setPolicy({ set: 'temper', overrides: { 'temper:rollout:without_consent': 'role:admin and system_scope:all' } });
  expect((await plan({ select, runbook: 'CUSTOM_PUBLIC' }, 'operator')).summary).toMatchObject({ need_consent: 0 });
});

test('a spent budget stops a rollout: nothing more is begun, and a person may not wish it away', async () => {
  await withActs({ power_off: async () => raise('BmcAuthFailed', { node: 'n', bmc: 'b' }) });
  const rollout = await plan({
    select: { nodes: await nodes(['r1', 'r1', 'r1', 'r1']) },
    waves: [{ rest: true }],
    budget: { total: 2 },
  });
  await start(rollout);
  expect(await reaches(rollout, 'paused')).toMatchObject({ code: 'budget_spent', states: { failed: 2, pending: 2 } });
  await act(rollout, 'resume');
  expect(await reaches(rollout, 'paused')).toMatchObject({ code: 'budget_spent', states: { failed: 2, pending: 2 } });
  expect((await act(rollout, 'abort')).body).toMatchObject({ rollout: { state: 'aborted' }, running: [] });
  expect((await act(rollout, 'resume')).status).toBe(409);
});

test('rights that are gone stop a rollout, and another person may adopt it', async () => {
  await withActs();
  authority = async ({ roles }) => (roles.includes('admin') ? 'holds' : 'lost');
  const rollout = await plan({ select: { nodes: await nodes(['r1', 'r1']) }, waves: [{ rest: true }] });
  await start(rollout);
  expect(await reaches(rollout, 'paused')).toMatchObject({ code: 'authority_lost', states: { pending: 2 } });
  expect((await act(rollout, 'adopt', {}, 'owner-admin')).status).toBe(200);
  await act(rollout, 'resume', {}, 'owner-admin');
  expect(await reaches(rollout, 'succeeded')).toMatchObject({ states: { done: 2 } });
});

test('while identity does not answer nothing is begun, and the rollout says so; it goes on when it does', async () => {
  await withActs();
  let away = true;
  authority = async () => (away ? 'waits' : 'holds');
  const rollout = await plan({ select: { nodes: await nodes(['r1', 'r1']) }, waves: [{ rest: true }] });
  await start(rollout);
  const waits = await world.until(async () => {
    const now = await show(rollout);
    return now.code === null ? undefined : now;
  });
  expect(waits).toMatchObject({ state: 'running', code: 'identity_unavailable', states: { pending: 2 } });
  away = false;
  await api.inventory.rolloutWakes.want(rollout.uuid);
  expect(await reaches(rollout, 'succeeded')).toMatchObject({ code: null, reason: null, states: { done: 2 } });
  authority = async () => 'silent';
  const other = await plan({ select: { nodes: await nodes(['r1']) } });
  await start(other);
  expect(await reaches(other, 'paused')).toMatchObject({ code: 'identity_unavailable', states: { pending: 1 } });
});

test('a revision that is withdrawn in the middle stops what uses it', async () => {
  await withActs();
  const { uuid } = await made('owner-manager', '/v1/runbooks', {
    name: 'CUSTOM_WITHDRAWN',
    steps: [{ interface: 'power', step: 'reboot', args: {}, order: 1 }],
    owner,
  });
  const select = { nodes: await nodes(['r1', 'r1'], { traits: ['CUSTOM_WITHDRAWN'] }) };
  const rollout = await plan({ select, runbook: 'CUSTOM_WITHDRAWN' });
  await start(rollout);
  await reaches(rollout, 'paused');
  const withdrawn = await api.as('owner-manager', 'POST', `/temper/v1/runbooks/${uuid}/revisions/1/withdraw`, {
    body: { reason: 'it bricks' },
  });
  expect(withdrawn.status).toBe(200);
  await act(rollout, 'advance');
  expect(await reaches(rollout, 'paused')).toMatchObject({
    code: 'revision_withdrawn',
    states: { done: 1, pending: 1 },
  });
});

test('an owner that changes in the middle takes its node out, and the others go on', async () => {
  await withActs();
  const [first, second, third] = await nodes(['r1', 'r1', 'r1']);
  const rollout = await plan({ select: { nodes: [first, second, third] }, order: 'name' });
  await start(rollout);
  await reaches(rollout, 'paused');
  await world.sql`update nodes set owner = 'project-elsewhere' where uuid = ${second!}`;
  await act(rollout, 'advance');
  expect(await reaches(rollout, 'succeeded')).toMatchObject({ states: { done: 2, skipped: 1 } });
  expect(await targets(rollout, '?state=skipped')).toEqual([expect.objectContaining({ code: 'changed_since_plan' })]);
});

test('a gate is asked when a wave is over: only its pass opens the next, and a person has it asked again', async () => {
  await withActs();
  setPolicy(unasked);
  const webhook = await gateOf();
  const answers: GateAnswer[] = [
    { is: 'fail', note: 'five alarms' },
    { is: 'inconclusive', note: 'no data' },
    { is: 'pass', note: '' },
  ];
  const asked: unknown[] = [];
  gates = {
    ask: async (_, facts) => {
      asked.push(facts);
      return answers.shift()!;
    },
    guard: async () => ({ is: 'pass', note: '' }),
  };
  const waves = [{ size: 1, advance: 'auto', gate: { webhook } }, { rest: true }];
  const rollout = await plan({ select: { nodes: await nodes(['r1', 'r1']) }, waves }, 'operator');
  await act(rollout, 'start', { plan_hash: rollout.plan_hash }, 'operator');
  const pausedBy = (code: string) =>
    world.until(async () => {
      const { body } = await api.as('operator', 'GET', `/temper/v1/rollouts/${rollout.uuid}`);
      return body.code === code || (code === 'none' && body.state === 'succeeded') ? body : undefined;
    });
  expect(await pausedBy('gate_failed')).toMatchObject({
    state: 'paused',
    reason: 'five alarms',
    states: { done: 1, pending: 1 },
    waves: [{ gate: { answer: 'fail', note: 'five alarms' } }, {}],
  });
  await act(rollout, 'resume', {}, 'operator');
  expect(await pausedBy('gate_inconclusive')).toMatchObject({ states: { done: 1, pending: 1 } });
  await act(rollout, 'resume', {}, 'operator');
  expect(await pausedBy('none')).toMatchObject({ states: { done: 2 } });
  expect(asked[0]).toMatchObject({ rollout: rollout.uuid, wave: 1, waves: 2, states: { done: 1 } });
});

test('webhook and metrics are asked by the worker over their connections, and the rollout goes on to its end by their answers', async () => {
  await withActs();
  setPolicy(unasked);
  const alarms = ['3', '0'];
  const asked: { readonly path: string; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { pathname } = new URL(request.url!, 'http://gate');
    asked.push({ path: pathname, body });
    const value = [1, pathname === '/api/v1/query' ? alarms.shift() : undefined];
    const metrics = { status: 'success', data: { resultType: 'scalar', result: value } };
    response.end(JSON.stringify(pathname === '/gate' ? { answer: 'pass' } : metrics));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const store = createInventory(world.sql);
    const { uuid } = await store.webhooks.create({
      project: null,
      url: `${url}/gate`,
      kinds: ['window.deleted'],
      enabled: true,
      description: null,
    });
    await store.webhooks.setSecret(uuid, gateVault.seal(`whsec_${Buffer.alloc(24, 'k').toString('base64')}`));
    gates = createGates({ inventory: deps.inventory, vault: gateVault, origins: [url], metricsUrl: url });
    const waves = [
      { size: 1, advance: 'auto', gate: { metric: { query: 'sum(alarms)', at_most: 0 } } },
      { rest: true, gate: { webhook: uuid } },
    ];
    const rollout = await plan({ select: { nodes: await nodes(['r1', 'r1']) }, waves }, 'operator');
    await act(rollout, 'start', { plan_hash: rollout.plan_hash }, 'operator');
    const shown = async () => (await api.as('operator', 'GET', `/temper/v1/rollouts/${rollout.uuid}`)).body;
    const until = (state: string) =>
      world.until(async () => {
        const now = await shown();
        return now.state === state ? now : undefined;
      });
    expect(await until('paused')).toMatchObject({ code: 'gate_failed', reason: 'The value is 3.' });
    await act(rollout, 'resume', {}, 'operator');
    expect(await until('succeeded')).toMatchObject({
      states: { done: 2 },
      waves: [{ gate: { answer: 'pass' } }, { gate: { answer: 'pass' } }],
    });
    expect(asked.map(({ path }) => path)).toEqual(['/api/v1/query', '/api/v1/query', '/gate']);
    expect(JSON.parse(asked[2]!.body)).toMatchObject({
      type: 'gate',
      subject: rollout.uuid,
      data: { rollout: rollout.uuid, wave: 2, states: { done: 1 } },
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a guard begins nothing unless it passes, nor does a worker that asks no gates', async () => {
  await withActs();
  setPolicy(unasked);
  const guard = { webhook: await gateOf() };
  const rollout = await plan({ select: { nodes: await nodes(['r1']) }, guard }, 'operator');
  const shown = async () => (await api.as('operator', 'GET', `/temper/v1/rollouts/${rollout.uuid}`)).body;
  const until = (state: string) =>
    world.until(async () => {
      const now = await shown();
      return now.state === state ? now : undefined;
    });
  await act(rollout, 'start', { plan_hash: rollout.plan_hash }, 'operator');
  expect(await until('paused')).toMatchObject({ code: 'gate_inconclusive', states: { pending: 1 } });
  gates = { ask: async () => ({ is: 'fail', note: '' }), guard: async () => ({ is: 'pass', note: '' }) };
  await act(rollout, 'resume', {}, 'operator');
  expect(await until('succeeded')).toMatchObject({ states: { done: 1 } });
});

test('gates are for who may see where the installation sends its events, and ask a webhook that is there', async () => {
  const select = { nodes: await nodes(['r1']) };
  const webhook = await gateOf();
  const planned = (who: Persona, guard: object) =>
    api.as(who, 'POST', '/temper/v1/rollouts', { body: { runbook: 'CUSTOM_RESTART', select, guard } });
  expect((await planned('owner-manager', { webhook })).status).toBe(403);
  expect((await planned('owner-manager', { metric: { query: 'up', at_least: 1 } })).status).toBe(403);
  expect((await planned('operator', { webhook: '11111111-2222-4333-8444-555555555555' })).status).toBe(404);
  expect((await planned('operator', { metric: { query: 'up' } })).status).toBe(400);
  await world.sql`update webhooks set enabled = false where uuid = ${webhook}`;
  expect((await planned('operator', { webhook })).status).toBe(400);
});

test('a policy line that is withdrawn skips by rule, and pauses after ten in a row', async () => {
  await withActs();
  const rollout = await plan({ select: { nodes: await nodes(Array(12).fill('r1')) }, waves: [{ rest: true }] });
  setPolicy({ set: 'temper', overrides: { 'temper:node:run_runbook': '!' } });
  await start(rollout);
  expect(await reaches(rollout, 'paused')).toMatchObject({
    code: 'policy_refuses',
    states: { skipped: 10, pending: 2 },
  });
  expect(await targets(rollout, '?reason=rule&limit=1')).toEqual([
    expect.objectContaining({ rule: 'temper:node:run_runbook' }),
  ]);
});

test('a trait, a lease and a state that change after the plan skip their node alone; a freeze only delays it', async () => {
  await withActs();
  const [trait, lease, state, frozen] = await nodes(['a', 'b', 'c', 'd']);
  const rollout = await plan({
    select: { nodes: [trait, lease, state, frozen] },
    waves: [{ rest: true }],
    order: 'name',
  });
  await world.sql`update nodes set traits = '{}' where uuid = ${trait!}`;
  await world.sql`update nodes set lessee = ${stranger} where uuid = ${lease!}`;
  await world.sql`update nodes set provision_state = 'available' where uuid = ${state!}`;
  const freeze = await made('operator', `/temper/v1/nodes/${frozen}/freezes`, { reason: 'fans' });
  await start(rollout);
  await world.until(async () => ((await show(rollout)).states.skipped === 3 ? true : undefined));
  expect(
    (await targets(rollout)).map((one: { node_uuid: string; state: string; code: string | null }) => [
      one.state,
      one.code,
    ]),
  ).toEqual([
    ['skipped', 'trait'],
    ['skipped', 'changed_since_plan'],
    ['skipped', 'state'],
    ['pending', null],
  ]);
  await api.as('operator', 'DELETE', `/temper/v1/freezes/${freeze.uuid}`);
  await api.inventory.rolloutWakes.want(rollout.uuid);
  expect(await reaches(rollout, 'succeeded')).toMatchObject({ states: { skipped: 3, done: 1 } });
});

test('a coordinator that is terminated is begun again, and an ended rollout wakes none', async () => {
  await withActs();
  const rollout = await plan({ select: { nodes: await nodes(['r1', 'r1']) } });
  await start(rollout);
  await reaches(rollout, 'paused');
  await world.client.workflow.getHandle(rolloutId(rollout.uuid)).terminate('by hand');
  await act(rollout, 'advance');
  expect(await reaches(rollout, 'succeeded')).toMatchObject({ states: { done: 2 } });
  const woken: string[] = [];
  const waking = { inventory: deps.inventory, log: quiet, wake: async (one: string) => void woken.push(one) };
  // What had happened before its end may be sent once more.
  await world.until(async () => {
    await wakeOnce(waking);
    const [row] = await world.sql`select from rollout_wakes where rollout = ${rollout.uuid} and wanted > sent`;
    return row === undefined ? true : undefined;
  });
  woken.length = 0;
  await wakeOnce(waking);
  await wakeSilent(waking, 0);
  expect(woken).not.toContain(rollout.uuid);
});

test('an abort that ends runs asks them to, and what it ends is no harm', async () => {
  let begun: () => void = () => {};
  const underWay = new Promise<void>((resolve) => {
    begun = resolve;
  });
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await withActs({
    power_off: async () => {
      begun();
      await released;
      return { is: 'done' };
    },
  });
  const rollout = await plan({
    select: { nodes: await nodes(['r1', 'r1']) },
    waves: [{ rest: true }],
    max_in_flight: 1,
  });
  await start(rollout);
  await underWay;
  const reply = await act(rollout, 'abort', { running: 'abort' });
  expect(reply.body.running).toEqual([expect.objectContaining({ will: expect.stringContaining('a request to end') })]);
  const [target] = await targets(rollout, '?state=admitted');
  await world.until(async () => ((await world.inventory.runs.find(target.run))?.abort_at ? true : undefined));
  release();
  await world.ended(target.run);
  expect((await show(rollout)).states).toEqual({ aborted: 1, pending: 1 });
});

const ofTarget = (
  rollout: { uuid: string },
  node: string,
  verb: string,
  body: object,
  who: Persona = 'stranger-admin',
) => api.as(who, 'POST', `/temper/v1/rollouts/${rollout.uuid}/targets/${node}/${verb}`, { body });

/** A rollout of the system on a node that another project leases, begun; its tenant is asked. */
const askedRollout = async (name: string) => {
  const select = { nodes: await nodes(['r1'], { lessee: stranger, traits: [name] }) };
  await made('operator', '/v1/runbooks', {
    name,
    public: true,
    steps: [{ interface: 'power', step: 'reboot', args: {}, order: 1 }],
  });
  const rollout = await plan({ select, runbook: name }, 'operator');
  await act(rollout, 'start', { plan_hash: rollout.plan_hash }, 'operator');
  const asOperator = async () => (await api.as('operator', 'GET', `/temper/v1/rollouts/${rollout.uuid}`)).body;
  await world.until(async () => ((await asOperator()).states.asked === 1 ? true : undefined));
  return { rollout, node: select.nodes[0]!, asOperator };
};

test('a tenant is asked, nothing is begun before its answer, and with it the rollout goes on', async () => {
  const calls = await withActs();
  const { rollout, node, asOperator } = await askedRollout('CUSTOM_ASKED');
  expect(calls).toEqual([]);
  expect((await ofTarget(rollout, node, 'consent', { now: true }, 'owner-admin')).status).toBe(403);
  expect((await ofTarget(rollout, node, 'consent', { at: '2001-01-01T00:00:00Z' })).status).toBe(400);
  expect((await ofTarget(rollout, node, 'consent', { now: true })).body).toMatchObject({ state: 'pending' });
  await world.until(async () => ((await asOperator()).state === 'succeeded' ? true : undefined));
  expect((await ofTarget(rollout, node, 'refuse', { reason: 'late' })).status).toBe(409);
});

test('a tenant that refuses keeps its node, and its reason is seen', async () => {
  const calls = await withActs();
  const { rollout, node, asOperator } = await askedRollout('CUSTOM_REFUSED');
  expect((await ofTarget(rollout, node, 'refuse', { reason: 'our release' })).body).toMatchObject({
    state: 'skipped',
    code: 'tenant_refused',
    reason: 'our release',
  });
  await world.until(async () => ((await asOperator()).state === 'succeeded' ? true : undefined));
  expect(calls).toEqual([]);
});

/** The power goes off on no node until `mend` is called. */
const brokenPower = async () => {
  let broken = true;
  await withActs({
    power_off: async () => (broken ? raise('BmcAuthFailed', { node: 'n', bmc: 'b' }) : { is: 'done' }),
  });
  return () => {
    broken = false;
  };
};

test('a node that failed in a wave that is over is tried again, and the rollout does not end before it', async () => {
  const mend = await brokenPower();
  const rollout = await plan({ select: { nodes: await nodes(['r1', 'r1', 'r1']) } });
  await start(rollout);
  expect(await reaches(rollout, 'paused')).toMatchObject({ code: 'wave_gate', states: { failed: 1, pending: 2 } });
  mend();
  const [failed] = await targets(rollout, '?state=failed');
  await api.as('operator', 'DELETE', `/v1/nodes/${failed.node_uuid}/maintenance`);
  expect((await ofTarget(rollout, failed.node_uuid, 'retry', { reason: 'mended' }, 'owner-manager')).status).toBe(200);
  await act(rollout, 'advance', { expected_wave: 1 });
  expect(await reaches(rollout, 'succeeded')).toMatchObject({ states: { done: 3 } });
});

test('a node that is tried again waits for the time that its tenant has named', async () => {
  await brokenPower();
  const { rollout, node, asOperator } = await askedRollout('CUSTOM_AGAIN');
  await ofTarget(rollout, node, 'consent', { now: true });
  await world.until(async () => ((await asOperator()).states.failed === 1 ? true : undefined));
  const { inventory } = deps;
  const again = async () =>
    beginTarget(
      deps,
      (await inventory.rollouts.find(rollout.uuid))!,
      (await inventory.rolloutTargets.find(rollout.uuid, node))!,
    );
  await world.sql`update rollout_answers set answer = 'at', at = now() + interval '1 day' where rollout = ${rollout.uuid}`;
  expect(await again()).toEqual({ is: 'waits', code: 'consent' });
});

test('a start without approval is refused; a vote counts for one plan, by another user, while its rights last', async () => {
  await withActs();
  const alone = { 'temper:rollout:start_alone': '!' };
  setPolicy({ set: 'temper', overrides: alone });
  const rollout = await plan({ select: { nodes: await nodes(['r1']) } });
  const begin = async () => (await act(rollout, 'start', { plan_hash: rollout.plan_hash })).status;
  const vote = (who: Persona, verb: string, plan_hash: string) => act(rollout, verb, { plan_hash }, who);
  expect(await begin()).toBe(409);
  expect((await vote('operator', 'approve', 'f'.repeat(64))).status).toBe(409);
  expect((await vote('owner-admin', 'approve', rollout.plan_hash)).status).toBe(403); // the user who asked for it
  expect((await vote('operator', 'approve', rollout.plan_hash)).body).toMatchObject({ wanted: 1, approved: 1 });
  setPolicy({ set: 'temper', overrides: { ...alone, 'temper:rollout:approve': '!' } });
  expect(await begin()).toBe(409);
  setPolicy({ set: 'temper', overrides: alone });
  expect((await vote('operator', 'reject', rollout.plan_hash)).body).toMatchObject({ approved: 0 });
  expect(await begin()).toBe(409);
  await vote('operator', 'approve', rollout.plan_hash);
  expect(await begin()).toBe(200);
  setPolicy({ set: 'temper' });
  // It is not left under way: its acts would be the next test's.
  await reaches(rollout, 'succeeded');
});

test('who plans anew is none of the approvers, a new plan has no votes, and a rejection stands against approvals', async () => {
  const overrides = {
    'temper:rollout:start_alone': '!',
    'temper:rollout:get': 'role:reader',
    'temper:rollout:approve': 'role:manager and not user_id:%(rollout.requester)s',
  };
  setPolicy({ set: 'temper', overrides });
  let rollout = await plan({ select: { nodes: await nodes(['r1']) }, seed: 'one' });
  const vote = (who: Persona, verb: string) => act(rollout, verb, { plan_hash: rollout.plan_hash }, who);
  const replan = async (who: Persona) => {
    const { body } = await act(rollout, 'replan', {}, who);
    rollout = body;
    return body;
  };
  const begin = async () => (await act(rollout, 'start', { plan_hash: rollout.plan_hash })).status;
  const { plan_hash: before } = rollout;
  expect((await vote('operator', 'approve')).body).toMatchObject({ approved: 1 });
  expect((await replan('owner-manager')).plan_hash).not.toBe(before);
  expect(await begin()).toBe(409);
  await replan('operator');
  expect((await vote('operator', 'approve')).status).toBe(403);
  expect((await vote('owner-manager', 'approve')).body).toMatchObject({ approved: 1 });
  expect((await vote('stranger-admin', 'reject')).body).toMatchObject({ approved: 0 });
  expect(await begin()).toBe(409);
  expect((await vote('stranger-admin', 'approve')).body).toMatchObject({ approved: 2 });
});

test('to name a tenant’s project is no consent of it, and it learns of that rollout its own row, not whose it is', async () => {
  await made('operator', '/v1/runbooks', {
    name: 'CUSTOM_NAMED',
    public: true,
    steps: [{ interface: 'power', step: 'reboot', args: {}, order: 1 }],
  });
  const select = { nodes: await nodes(['r1'], { lessee: stranger, traits: ['CUSTOM_NAMED'] }) };
  const work = { select, runbook: 'CUSTOM_NAMED' };
  expect((await plan({ ...work, project: stranger }, 'operator')).summary).toMatchObject({ need_consent: 1 });
  const { uuid } = await plan({ ...work, project: owner }, 'operator');
  const listed = async (query: string) =>
    (await api.as('stranger-admin', 'GET', `/temper/v1/rollouts${query}`)).body.rollouts.map(
      (one: { uuid: string }) => one.uuid,
    );
  expect(await listed('')).toContain(uuid);
  expect(await listed(`?project=${owner}`)).not.toContain(uuid);
});

test('the next lessee of a node sees nothing of a rollout that was planned before its lease', async () => {
  const select = { nodes: await nodes(['r1']) };
  const { uuid } = await plan({ select });
  await world.sql`update nodes set lessee = ${stranger} where uuid = ${select.nodes[0]!}`;
  const path = `/temper/v1/rollouts/${uuid}`;
  for (const tail of ['', '/targets'])
    expect((await api.as('stranger-admin', 'GET', `${path}${tail}`)).status).toBe(404);
  const { rollouts } = (await api.as('stranger-admin', 'GET', '/temper/v1/rollouts')).body;
  expect(rollouts.map((one: { uuid: string }) => one.uuid)).not.toContain(uuid);
});

test('the database is set back in the middle: what ran since is not run again, counters are as the targets say, and a person resumes', async () => {
  const offs: string[] = [];
  const steps_ = [held(), held()];
  const all = await nodes(['r1', 'r1', 'r1']);
  await withActs({
    power_off: async ({ uuid }) => {
      if (!all.includes(uuid)) return { is: 'done' };
      offs.push(uuid);
      await steps_[offs.length - 1]?.at();
      return { is: 'done' };
    },
  });
  const rollout = await plan({ select: { nodes: all }, waves: [{ rest: true }], max_in_flight: 1, order: 'name' });
  await start(rollout);
  await steps_[0]!.reached;
  const putBack = await keepTables(world.sql);
  steps_[0]!.release();
  await steps_[1]!.reached;
  const [done, since, left] = await targets(rollout);
  expect([done.state, since.state, left.state]).toEqual(['done', 'admitted', 'pending']);
  // Its workflow is closed a moment after its record, and the recovery is to find it so.
  const { workflow_id } = (await world.inventory.runs.find(done.run))!;
  await world.client.workflow.getHandle(workflow_id).result();
  // Open ones are listed by the engine's visibility store, which may be late.
  const { workflow_id: lost } = (await world.inventory.runs.find(since.run))!;
  await world.until(async () => {
    const query = `WorkflowId = '${lost}' and ExecutionStatus = 'Running'`;
    for await (const { workflowId } of world.client.workflow.list({ query })) return workflowId;
    return undefined;
  });
  // Nothing may be begun from here on: the room of one is taken, and then everything is held back.
  const owners = createInventory(world.sql);
  await owners.recovery.enter(restored('store'));
  await putBack();
  expect(await world.inventory.runs.find(since.run)).toBeUndefined();
  const { lines } = await world.runs.recover(true);
  const { name } = (await world.inventory.nodes.find({ uuid: since.node_uuid }))!;
  expect(lines).toContain(
    `workflow ${lost}: the database does not know its run; it is terminated, and its node ${name} goes into maintenance`,
  );
  steps_[1]!.release();

  expect(await show(rollout)).toMatchObject({ state: 'paused', code: 'restored' });
  await world.ended(done.run);
  await act(rollout, 'resume');
  expect(await reaches(rollout, 'succeeded')).toMatchObject({ states: { done: 2, skipped: 1 } });
  expect((await targets(rollout)).map((one: { state: string; code: string | null }) => [one.state, one.code])).toEqual([
    ['done', null],
    ['skipped', 'maintenance'],
    ['done', null],
  ]);
  expect([...offs].sort()).toEqual([done.node_uuid, since.node_uuid, left.node_uuid].sort());
  const row = (await deps.inventory.rollouts.find(rollout.uuid))!;
  expect(await brokenCounters(world.sql, row)).toEqual([]);
});
