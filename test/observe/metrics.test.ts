/** What is counted, under which labels, and that no caller notices being counted. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { createLanes } from '../../src/bmc/lane';
import { raise } from '../../src/model/errors';
import { countedDriver, countedLanes, countedPolicy, countRequests, vendorLabels } from '../../src/observe/hooks';
import { counterRows, createMetrics, gaugeRows, histogramRows, type Metrics } from '../../src/observe/metrics';
import { activityCounter, eventCounter, relayCounter } from '../../src/observe/runs';
import { createPolicy, personas } from '../../src/policy';
import { startPowerSync } from '../../src/process/workers/power-sync';

let metrics: Metrics;
beforeEach(() => {
  metrics = createMetrics('test');
});

type Labels = Readonly<Record<string, string | number>>;
/** Counts of a metric's series by their labels. */
const counts = async (name: string): Promise<[Labels, number][]> => {
  const { values } = await metrics.registry.getSingleMetric(name)!.get();
  const whole = values.filter(
    (one) => !one.labels.le && !String(Reflect.get(one, 'metricName') ?? '').endsWith('_sum'),
  );
  return whole.map(({ labels, value }) => [labels as Labels, value]);
};
const of = (labels: Labels) => ({ ...labels });

test('policy decisions are counted by outcome, and decided as without', async () => {
  const bare = createPolicy({ set: 'temper' });
  const policy = countedPolicy(bare, 'temper', metrics);
  const [may, mayNot] = [personas['system-admin'], personas['stranger-reader']];
  expect(policy.allows('temper:webhook:get', may)).toBe(true);
  expect(policy.allows('temper:webhook:get', mayNot)).toBe(false);
  expect(() => policy.require('temper:webhook:get', mayNot)).toThrow(expect.objectContaining({ code: 'PolicyDenied' }));
  const columns = { 'node.owner': 'owner' };
  expect(policy.filter('baremetal:node:get', mayNot, columns)).toEqual(
    bare.filter('baremetal:node:get', mayNot, columns),
  );
  expect(policy.hash).toBe(bare.hash);
  const seen = await counts('temper_policy_decision_seconds');
  expect(seen).toEqual(
    expect.arrayContaining([
      [of({ rule_set: 'temper', outcome: 'allowed' }), 1],
      [of({ rule_set: 'temper', outcome: 'denied' }), 2],
      [of({ rule_set: 'temper', outcome: 'filtered' }), 1],
    ]),
  );
});

test('lanes tell how many acts hold one and how many wait', async () => {
  const lanes = countedLanes(createLanes(), metrics);
  const level = async () =>
    Object.fromEntries((await counts('temper_lanes')).map(([{ state }, value]) => [state, value]));
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const never = new AbortController();
  const first = lanes.run('bmc-1', never.signal, () => gate);
  const second = lanes.run('bmc-1', never.signal, async () => 'done');
  const leaving = new AbortController();
  const third = lanes.run('bmc-1', leaving.signal, async () => 'never');
  await lanes.run(null, never.signal, async () => 'no lane');
  expect(await level()).toEqual({ held: 1, waiting: 2 });
  leaving.abort(new Error('left'));
  await expect(third).rejects.toThrow('left');
  expect(await level()).toEqual({ held: 1, waiting: 1 });
  finish();
  expect([await first, await second]).toEqual([undefined, 'done']);
  expect(await level()).toEqual({ held: 0, waiting: 0 });
});

test('power sync tells how far behind a worker is, by its conductor group', async () => {
  const ending = new AbortController();
  const ended: (() => unknown)[] = [];
  const away = async () => Promise.reject(new Error('the store is away'));
  const inventory = { powerSync: { enlist: away }, bmcLeases: {}, secrets: {} };
  const log = { info() {}, warn: () => ending.abort() };
  const config = { TEMPER_CONDUCTOR_GROUP: 'g1', TEMPER_POWER_SYNC_SECONDS: 60, TEMPER_POWER_SYNC_WORKERS: 1 };
  startPowerSync(config as never, { inventory, log, metrics } as never, {} as never, {
    signal: ending.signal,
    onEnd: (work) => void ended.push(work),
  });
  await Promise.all(ended.map((work) => work()));
  expect(await counts('temper_power_looks_behind_seconds')).toEqual([[{ conductor_group: 'g1' }, expect.any(Number)]]);
  expect((await counts('temper_power_looks_behind_seconds'))[0]![1]).toBeGreaterThan(0);
});

describe('acts', () => {
  const context = { step: { interface: 'power', step: 'reboot' } };
  const node = (vendor?: string) => ({ properties: { vendor } });

  test('are counted by driver, step, act and code, and their requests by vendor and status', async () => {
    const server = createServer(
      (asked, response) => void response.writeHead(asked.url === '/lost' ? 404 : 200).end('{}'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const stop = countRequests(metrics);
    const driver = countedDriver(
      {
        name: 'redfish',
        acts: {
          look: async (..._: unknown[]) => {
            for (const path of ['/', '/lost']) await (await request(url + path)).body.text();
            await request('http://127.0.0.1:1/').catch(() => undefined);
          },
          powerOff: async (..._: unknown[]) => raise('BmcBusy', { node: 'n', bmc: 'b', status: 503, reason: 'r' }),
        },
      },
      metrics,
    );
    await driver.acts.look!(node(' Acme ') as never, {} as never, context as never);
    await expect(driver.acts.powerOff!(node() as never, {} as never, {} as never)).rejects.toMatchObject({
      code: 'BmcBusy',
    });
    await (await request(url)).body.text(); // not an act's
    stop();
    server.close();
    expect(await counts('temper_act_seconds')).toEqual(
      expect.arrayContaining([
        [of({ driver: 'redfish', step: 'power.reboot', act: 'look', code: 'ok' }), 1],
        [of({ driver: 'redfish', step: 'unknown', act: 'powerOff', code: 'BmcBusy' }), 1],
      ]),
    );
    const asked = { driver: 'redfish', vendor: 'acme', method: 'GET' };
    expect(await counts('temper_bmc_request_seconds')).toEqual(
      expect.arrayContaining([
        [of({ ...asked, status: '2xx' }), 1],
        [of({ ...asked, status: '4xx' }), 1],
        [of({ ...asked, status: 'none' }), 1],
      ]),
    );
    expect((await counts('temper_bmc_request_seconds')).reduce((sum, [, count]) => sum + count, 0)).toBe(3);
  });

  test('of nodes that call themselves anything make no more than twenty vendors', () => {
    const vendorOf = vendorLabels();
    const labels = Array.from({ length: 50 }, (_, index) => vendorOf(`vendor-${index}`));
    expect(new Set(labels).size).toBe(21);
    expect([vendorOf('vendor-3'), vendorOf('vendor-44'), vendorOf(''), vendorOf(7)]).toEqual([
      'vendor-3',
      'other',
      'unknown',
      'unknown',
    ]);
  });
});

test('runs, failed attempts and kinds of events are counted from events', async () => {
  const count = eventCounter(metrics);
  const event = { verb: 'clean', run_ms: 60_000, data: {} };
  count({ ...event, kind: 'run.succeeded' });
  count({ ...event, kind: 'step.tried', data: { step: 'bios.apply', code: 'BmcBusy' } });
  count({ ...event, kind: 'Something <odd>', verb: null, run_ms: null });
  expect(await counts('temper_run_seconds')).toEqual([[of({ verb: 'clean', outcome: 'succeeded' }), 1]]);
  expect(await counts('temper_step_attempts_failed_total')).toEqual([[of({ step: 'bios.apply', code: 'BmcBusy' }), 1]]);
  expect((await counts('temper_events_total')).map(([{ kind }]) => kind)).toEqual([
    'run.succeeded',
    'step.tried',
    'other',
  ]);
});

test('activities are counted, and what reconciler and relay did', async () => {
  const count = activityCounter(metrics);
  await count({ activity: 'reconcile', work: async () => ({ started: 2, ended: 1 }) });
  await expect(count({ activity: 'claim', work: () => Promise.reject(new Error('no')) })).rejects.toThrow('no');
  relayCounter(metrics)({ started: 0, sent: 3 });
  expect(await counts('temper_activity_seconds')).toEqual([
    [of({ activity: 'reconcile', outcome: 'done' }), 1],
    [of({ activity: 'claim', outcome: 'failed' }), 1],
  ]);
  expect(await counts('temper_reconciler_runs_total')).toEqual([
    [of({ did: 'started' }), 2],
    [of({ did: 'ended' }), 1],
  ]);
  expect(await counts('temper_relay_total')).toEqual([[of({ did: 'sent' }), 3]]);
});

test('no metric has a label that names a node, a run or a caller', () => {
  const rows: { labels?: readonly string[] }[] = [histogramRows, counterRows, gaugeRows].flatMap((table) =>
    Object.values(table),
  );
  const labels = new Set(rows.flatMap((row) => row.labels ?? []));
  for (const label of labels) expect(label).not.toMatch(/node|run$|uuid|user|project|bmc|address|host/);
});
