/** Loads of the policy on their way into the audit trail: reported by the holder, kept while the store is away. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PolicyLoad } from '../../src/model/access/policy-loads';
import { holdPolicy } from '../../src/process/policy/policy';
import { createPolicyRecorder } from '../../src/process/policy/policy-record';

const say = () => {};
const log = { debug: say, info: say, warn: say, error: say };
const folder = mkdtempSync(join(tmpdir(), 'policy-'));
const file = join(folder, 'main.yaml');
const text = '"baremetal:node:delete": "!"\n';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  writeFileSync(file, text);
});
afterEach(() => jest.useRealTimers());
afterAll(() => rmSync(folder, { recursive: true }));

test('every load is reported with its author and text, the refused one with its reason', () => {
  const loads: PolicyLoad[] = [];
  const record = (load: PolicyLoad) => void loads.push(load);
  const holder = holdPolicy('temper', file, { log, onLoad: say, record });
  writeFileSync(file, '');
  jest.advanceTimersByTime(6_000);
  holder.close();
  const { hash } = holder.now();
  expect(loads).toMatchObject([
    {
      set: 'temper',
      mode: 'strict',
      rule_set: hash,
      reason: null,
      files: [{ path: file, text, sha256: expect.stringMatching(/^[0-9a-f]{64}$/), rules: 1, uid: process.getuid?.() }],
    },
    {
      rule_set: null,
      reason: expect.stringContaining('holds no rules'),
      files: [{ path: file, text: '', rules: null }],
    },
  ]);
  expect(Date.parse(loads[0]!.files[0]!.modified_at)).not.toBeNaN();
});

test('a store that is away is one sentence without a stack, once for each outage', async () => {
  const warned: unknown[][] = [];
  const recorder = createPolicyRecorder({ ...log, warn: (...line) => void warned.push(line) });
  const load: PolicyLoad = { at: new Date(), set: 'temper', mode: 'strict', rule_set: 'a', reason: null, files: [] };
  let away = true;
  const record = async (): Promise<void> => {
    if (away) throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
  };
  recorder.writeTo({ policyLoads: { record, list: async () => [] } });
  const passes = async (): Promise<void> => {
    jest.advanceTimersByTime(5_000);
    await new Promise(setImmediate);
  };
  recorder.record(load);
  for (let time = 0; time < 3; time += 1) await passes();
  const line =
    'a policy load is not in the audit trail yet: PostgreSQL says "connect ECONNREFUSED 127.0.0.1:9"; tried again every 5 s';
  expect(warned).toEqual([[line]]);
  away = false;
  await passes();
  away = true;
  recorder.record(load);
  await passes();
  recorder.close();
  expect(warned).toEqual([[line], [line]]);
});

test('loads wait for the store, and are written once each in their order', async () => {
  const recorder = createPolicyRecorder(log);
  const load = (rule_set: string): PolicyLoad => ({
    at: new Date(),
    set: 'temper',
    mode: 'strict',
    rule_set,
    reason: null,
    files: [],
  });
  recorder.record(load('a'));
  const written: string[] = [];
  let away = true;
  const record = async (one: PolicyLoad): Promise<void> => {
    if (away) throw new Error('away');
    written.push(one.rule_set!);
  };
  recorder.writeTo({ policyLoads: { record, list: async () => [] } });
  await new Promise(setImmediate);
  recorder.record(load('b'));
  await new Promise(setImmediate);
  expect(written).toEqual([]);
  away = false;
  jest.advanceTimersByTime(5_000);
  await new Promise(setImmediate);
  recorder.close();
  expect(written).toEqual(['a', 'b']);
});
