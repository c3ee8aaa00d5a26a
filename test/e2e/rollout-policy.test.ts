/** The policy file that API and control worker read is edited while a rollout is under way: the next node is begun by the rules of that moment. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../demo/nodes';
import type { Json, Person } from '../../demo/system';
import { manageable, withinMs } from './support/nodes';
import { type System, startSystem } from './support/system';

const folder = mkdtempSync(join(tmpdir(), 'temper-policy-'));
const file = join(folder, 'policy.yaml');
const admits = '"baremetal:node:set_power_state": "role:admin and system_scope:all"\n';
const refuses = '"baremetal:node:set_power_state": "!"\n';
const processes = ['api', 'worker-control'] as const;

let system: System;
let operator: Person;

beforeAll(async () => {
  writeFileSync(file, admits);
  system = await startSystem(3, { TEMPER_RACK_SPEED: '5', TEMPER_POLICY_FILE: file });
  operator = await system.person('operator');
  await manageable(system, operator, 0, 1, 2);
});
afterAll(async () => {
  await system?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The rule sets that a process has loaded since its start, by its own log. */
const loadedBy = (process: string): string[] =>
  readFileSync(join(system.logs, `${process}.log`), 'utf8')
    .split('\n')
    .slice(0, -1) // what follows the last line is none yet
    .filter((line) => line.includes('"message":"policy loaded"'))
    .map((line) => JSON.parse(line).hash);

/** Writes the file, and waits until both processes have taken it. @returns the rule set that is in force then */
const edited = async (text: string): Promise<string> => {
  const before = processes.map((process) => loadedBy(process).length);
  writeFileSync(file, text);
  for (const [at, process] of processes.entries())
    await until(`${process} to load its policy`, withinMs, async () =>
      loadedBy(process).length > before[at]! ? true : undefined,
    );
  const [hash, other] = processes.map((process) => loadedBy(process).at(-1)!);
  expect(other).toBe(hash);
  return hash!;
};

const comesTo = (path: string, state: string): Promise<Json> =>
  until(`the rollout to be ${state}`, withinMs, async () => {
    const now = await operator.must('GET', path);
    return now.state === state && now.states.admitted === undefined ? now : undefined;
  });

test('a node is passed over by a line that came into force after the plan, and the next one is begun when the line is gone', async () => {
  const rollout = await operator.must('POST', '/temper/v1/rollouts', {
    verb: 'power',
    power: { target: 'power on' },
    select: { nodes: ['bmc-0', 'bmc-1', 'bmc-2'] },
    order: 'name',
    waves: [{ size: 1 }, { size: 1, advance: 'manual' }, { rest: true }],
    budget: { total: 3 },
  });
  const path = `/temper/v1/rollouts/${rollout.uuid}`;
  const reason = 'a new row';
  const [first] = loadedBy('worker-control');
  await operator.must('POST', `${path}/start`, { reason, plan_hash: rollout.plan_hash });
  await comesTo(path, 'paused');

  const forbidding = await edited(refuses);
  expect(forbidding).not.toBe(first);
  await operator.must('POST', `${path}/advance`, { reason });
  await comesTo(path, 'paused');

  expect(await edited(admits)).toBe(first);
  await operator.must('POST', `${path}/advance`, { reason });
  await comesTo(path, 'succeeded');

  const { targets } = await operator.must('GET', `${path}/targets`);
  expect(targets.map(({ node_name, state, code, rule }: Json) => [node_name, state, code, rule])).toEqual([
    ['bmc-0', 'done', null, null],
    ['bmc-1', 'skipped', 'rule', 'baremetal:node:set_power_state'],
    ['bmc-2', 'done', null, null],
  ]);
  const commands = await Promise.all([0, 1, 2].map((bmc) => system.rack.accepted(bmc)));
  expect(commands.map((some) => some.some(({ path: to }) => to.endsWith('ComputerSystem.Reset')))).toEqual([
    true,
    false,
    true,
  ]);
});

test('a file that cannot be used changes nothing: the rules of before go on, and the worker says so', async () => {
  const rollout = await operator.must('POST', '/temper/v1/rollouts', {
    verb: 'power',
    power: { target: 'power on' },
    select: { nodes: ['bmc-1'] },
    waves: [{ rest: true }],
    budget: { total: 1 },
  });
  writeFileSync(file, '"baremetal:node:set_power_state": "role:admin and (');
  await until('the worker to refuse the file', withinMs, async () =>
    readFileSync(join(system.logs, 'worker-control.log'), 'utf8').includes('the old rules stay in force')
      ? true
      : undefined,
  );
  const path = `/temper/v1/rollouts/${rollout.uuid}`;
  await operator.must('POST', `${path}/start`, { reason: 'a new row', plan_hash: rollout.plan_hash });
  expect((await comesTo(path, 'succeeded')).states).toEqual({ done: 1 });
});
