/** Temporal's namespace is deleted under a running system and made anew: the system says so, and every run goes on. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { until } from '../../demo/nodes';
import type { Json, Person } from '../../demo/system';
import { endAll, run } from '../bin/support/entries';
import { acceptedSince, commandOf, journalNow, manageable, newestOf, patient, withinMs } from './support/nodes';
import { environmentsOf } from './support/persona-api';
import { type System, startSystem } from './support/system';

jest.setTimeout(600_000);

let system: System;
let operator: Person;
let held: string;
let late: string;

beforeAll(async () => {
  system = await startSystem(2);
  operator = patient(await system.person('operator'));
  [held, late] = (await manageable(system, operator, 0, 1)) as [string, string];
});
afterAll(async () => {
  await endAll();
  await system?.stop();
});

/** Temporal's own command on the system's server, as docs/operations.md has it. */
const temporal = async (...args: readonly string[]): Promise<string> => {
  const { findTemporal } = jest.requireActual('../../scripts/lib/temporal-binary');
  const { temporal: address } = system.record().addresses as unknown as Record<string, string>;
  return (await promisify(execFile)(await findTemporal(), [...args, '--address', address!])).stdout;
};

/** What `temper doctor` says at a control worker, as an operator would type it there. */
const doctor = () => {
  const { control } = environmentsOf(system);
  const { TEMPER_DATABASE_URL, TEMPER_TEMPORAL_ADDRESS } = control as Record<string, string>;
  return run('temper doctor', {
    TEMPER_URL: system.record().addresses.api,
    TEMPER_DATABASE_URL: TEMPER_DATABASE_URL!,
    TEMPER_TEMPORAL_ADDRESS: TEMPER_TEMPORAL_ADDRESS!,
  });
};

const runOf = (uuid: string): Promise<Json> => operator.must('GET', `/temper/v1/runs/${uuid}`);
const provision = (node: string, body: object) => operator.must('PUT', `/v1/nodes/${node}/states/provision`, body);
const comes = (what: string, ready: () => Promise<unknown>) =>
  until(what, withinMs, async () => ((await ready()) ? true : undefined));

test('runs wait for the namespace, go on from their record when it is there again, and nothing is done twice', async () => {
  const since = await journalNow(system, held);
  const reboot = { interface: 'power', step: 'reboot' };
  await provision(held, { target: 'clean', clean_steps: [reboot, { interface: 'power', step: 'hold' }, reboot] });
  const holding = await newestOf(operator, held);
  await comes('the hold', async () => (await runOf(holding)).state === 'waiting');
  const before = (await acceptedSince(system, held, since)).map(commandOf);
  expect(before.length).toBeGreaterThan(0);

  await temporal('operator', 'namespace', 'delete', '--namespace', 'temper', '--yes');
  await comes('doctor to say so', async () => {
    const { status, out } = await doctor();
    return status !== 0 && /^FAILED +Temporal: .*[Nn]amespace[\s\S]*-> .*namespace temper/m.test(out);
  });

  // Reading goes on, and what is asked for is accepted and waits, with the reason shown.
  expect((await operator.must('GET', `/v1/nodes/${held}`)).provision_state).toBe('clean hold');
  await provision(late, { target: 'clean', clean_steps: [reboot] });
  const waiting = await newestOf(operator, late);
  await comes('the reason', async () => /namespace/i.test(JSON.stringify(await runOf(waiting))));
  expect(await runOf(waiting)).toMatchObject({ finished_at: null });

  await temporal('operator', 'namespace', 'create', '--namespace', 'temper', '--retention', '30d');
  expect(await run('migrate', environmentsOf(system).migrate)).toMatchObject({ status: 0 });

  await comes('the run that was accepted meanwhile to end', async () => (await runOf(waiting)).finished_at);
  expect(await runOf(waiting)).toMatchObject({ state: 'succeeded' });
  await comes('the held run to be taken up again', async () => {
    const { body } = await operator.ask('PUT', `/v1/nodes/${held}/states/provision`, { target: 'unhold' });
    expect(body?.error_message ?? '').not.toMatch(/not found/i);
    return (await runOf(holding)).finished_at;
  });
  expect(await runOf(holding)).toMatchObject({ state: 'succeeded' });
  // The node was off before the first reboot and is on before the second: one more command, and none of the first again.
  const after = (await acceptedSince(system, held, since)).map(commandOf);
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.slice(before.length)).toEqual([expect.stringContaining('ForceOff'), ...before]);
  for (const node of [held, late])
    expect(await operator.must('GET', `/v1/nodes/${node}`)).toMatchObject({
      provision_state: 'manageable',
      reservation: null,
      maintenance: false,
    });
  const { out } = await doctor();
  expect(out).toMatch(/^ok +Temporal: /m);
});
