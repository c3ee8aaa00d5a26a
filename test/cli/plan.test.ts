/** `temper plan`: what it asks of the API, what it prints, and how it ends. */
import type { NodePlan } from '../../src/wire/runs';
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

const step: NodePlan['steps'][number] = {
  index: 0,
  interface: 'bios',
  step: 'apply_configuration',
  args: { settings: [{ name: 'AdminPassword', value: '******' }] },
  system: false,
  node_uuid: null,
  acts: [],
  abortable: true,
  may_park: false,
  power_cycles: 1,
  erases: false,
  expected_ms: 240_000,
  p95_ms: 300_000,
};
const good: NodePlan = {
  node_uuid: 'u',
  node_name: 'bmc-1',
  verb: 'clean',
  does: 'run',
  provision_state: 'manageable',
  target_provision_state: null,
  runbook: { uuid: 'r', name: 'CUSTOM_BIOS', revision: 3 },
  parameters: null,
  firmware: null,
  would_run: true,
  refusals: [],
  concerns: [],
  steps: [step],
  power_cycles: 1,
  erases: false,
  expected_ms: 240_000,
  p95_ms: 300_000,
};
let api: Double;
let planned: NodePlan;
beforeAll(async () => {
  api = await startDouble(() => ({ json: planned }));
});
beforeEach(() => {
  api.asked.length = 0;
  planned = good;
});
afterAll(() => api.close());

const does = (line: string | readonly string[], files: Record<string, string> = {}) =>
  temper(['plan', ...(typeof line === 'string' ? line.split(' ').filter(Boolean) : line)], {
    env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' },
    files,
  });

test('a runbook on a node: steps, power cycles, erasure and times', async () => {
  const { status, out } = await does('bmc-1 --runbook CUSTOM_BIOS');
  expect(status).toBe(0);
  expect(api.asked[0]).toMatchObject({
    method: 'POST',
    path: '/temper/v1/nodes/bmc-1/plan',
    body: { runbook: 'CUSTOM_BIOS' },
  });
  expect(out).toContain('bmc-1 (manageable): clean by runbook CUSTOM_BIOS, revision 3. Nothing was touched.\n');
  expect(out).toContain('It would be accepted.');
  expect(out).toMatch(/^0 +bios\.apply_configuration +1 +no +4:00 +\{"settings"/m);
  expect(out).toContain('1 step, at most 1 power cycle, nothing is erased, about 4:00 (p95 5:00).');
});

test('everything that refuses is listed, and the command fails', async () => {
  const refusals: NodePlan['refusals'] = [
    { code: 'rule', error: 'PolicyDenied', status: 403, rule: 'temper:node:run_runbook', reason: 'Access was denied.' },
    { code: 'state', error: 'InvalidState', status: 400, rule: null, reason: 'The node is active.' },
  ];
  const concerns: NodePlan['concerns'] = [
    { code: 'frozen', error: 'NodeFrozen', status: 409, rule: null, reason: 'fan swap\u001b[2J' },
  ];
  planned = {
    ...good,
    would_run: false,
    refusals,
    concerns,
    steps: [{ ...step, args: null }],
    erases: null,
    expected_ms: null,
  };
  const { status, out } = await does('bmc-1 --verb clean --runbook X');
  expect(status).toBe(1);
  expect(api.asked[0]).toMatchObject({ body: { target: 'clean', runbook: 'X' } });
  expect(out).toContain('It would be refused, for 2 reasons.');
  expect(out).toMatch(/^rule +403 +temper:node:run_runbook +Access was denied\.$/m);
  expect(out).toMatch(/^state +400 +- +The node is active\.$/m);
  expect(out).toMatch(/^frozen +409 +- +fan swap/m);
  expect(out).not.toContain('\u001b');
  expect(out).toContain('not yours to see');
  expect(out).toContain('whether data is erased is not known, how long it takes is not known yet');
});

test('a request in a file, a reason in its header, and JSON', async () => {
  const file = 'target: clean\nclean_steps:\n- interface: power\n  step: reboot\n';
  const { status, out } = await does(['bmc-1', '--file', '/x', '--reason', 'asked for', '--json'], { '/x': file });
  expect(status).toBe(0);
  expect(JSON.parse(out)).toEqual(good);
  expect(api.asked[0]).toMatchObject({
    body: { target: 'clean', clean_steps: [{ interface: 'power', step: 'reboot' }] },
    headers: { 'x-temper-reason': 'asked for' },
  });
});

test('what differs from a baseline is listed', async () => {
  planned = {
    ...good,
    firmware: [{ component: 'bios', current: '2.1', wanted: '2.2', url: 'https://images.example.org/x' }],
  };
  expect((await does('bmc-1 --runbook X')).out).toMatch(/^bios +2\.1 +2\.2$/m);
});

test.each([
  ['bmc-1', {}],
  ['bmc-1 --file /none', {}],
  ['bmc-1 --file /x', { '/x': '{' }],
  ['bmc-1 --file /x', { '/x': '[]' }],
])('"%s" is wrong usage, and nothing is asked', async (line, files) => {
  expect((await does(line, files)).status).toBe(2);
  expect(api.asked).toEqual([]);
});
