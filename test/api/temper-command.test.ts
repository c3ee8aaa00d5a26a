/** The `temper` command against the real API: what its people may see and do, and that both speak of the same things. */
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { temper } from '../cli/support/command';
import { addWorker, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api?.close());

const as = (who: Persona, line: string | readonly string[]) =>
  temper(line, { env: { TEMPER_URL: api.url, TEMPER_TOKEN: who } });
const json = async (who: Persona, line: string) => JSON.parse((await as(who, `--json ${line}`)).out);

let count = 0;
const newNode = async (values: Record<string, unknown> = {}): Promise<{ uuid: NodeUuid; name: string }> => {
  const row = { name: `cmd-${++count}`, driver: 'fake-hardware', provision_state: 'active', owner, lessee, ...values };
  const [node] = await api.sql<{ uuid: NodeUuid; name: string }[]>`
    insert into nodes ${api.sql(row as never)} returning uuid, name`;
  return node!;
};

/** A run of two steps, as the store keeps it; in its second. */
const newRun = async (node: { uuid: NodeUuid; name: string }, state = 'running'): Promise<RunUuid> => {
  const run = api.inventory.runs.newId();
  const requester = {
    user_id: 'u',
    user_name: 'asker',
    project_id: lessee,
    system_scope: null,
    strategy: 'x',
    request_id: 'r',
  };
  const [lease] = await api.sql`select lease_id from nodes where uuid = ${node.uuid}`;
  await api.sql`
    insert into runs (id, node_uuid, node_name, fence, kind, verb, state, input, owner, lessee, lease_id, requester, rule_set,
      workflow_id, cursor, finished_at)
    values (${run}, ${node.uuid}, ${node.name}, 1, 'service', 'service', ${state}, ${api.sql.json({ steps: [] })}, ${owner}, ${lessee},
      ${lease!.lease_id}, ${api.sql.json(requester)}, 'x', ${`w-${run}`}, 1, ${state === 'failed' ? new Date() : null})`;
  for (const [index, step] of ['reboot', 'set_boot_device'].entries())
    await api.sql`insert into run_steps (run_id, index, interface, step) values (${run}, ${index}, 'management', ${step})`;
  return run;
};

describe('runs', () => {
  test('that are going on are listed to those who may see them, and to no other caller', async () => {
    const [mine, foreign] = [await newNode(), await newNode({ owner: 'project-x', lessee: null })];
    const [one, two, ended] = [await newRun(mine), await newRun(foreign), await newRun(mine, 'failed')];
    const seen = async (who: Persona, more = '') =>
      ((await json(who, `runs list${more}`)).runs as { uuid: string }[])
        .map(({ uuid }) => uuid)
        .filter((uuid) => [one, two, ended].includes(uuid as RunUuid));
    expect(await seen('operator')).toEqual([two, one]);
    expect(await seen('owner-reader')).toEqual([one]);
    expect(await seen('lessee-reader')).toEqual([one]);
    expect(await seen('stranger-admin')).toEqual([]);
    expect(await seen('operator', ' --state parked')).toEqual([]);
    expect((await seen('operator', ` ${mine.name}`)).sort()).toEqual([one, ended].sort());
  });

  test('of a lease that is over are no longer listed to its lessee', async () => {
    const node = await newNode();
    const run = await newRun(node);
    await api.sql`update nodes set lessee = null where uuid = ${node.uuid}`;
    await api.sql`update nodes set lessee = ${lessee} where uuid = ${node.uuid}`;
    const listed = async (who: Persona) =>
      (await json(who, 'runs list')).runs.some(({ uuid }: { uuid: string }) => uuid === run);
    expect([await listed('lessee-reader'), await listed('owner-reader')]).toEqual([false, true]);
  });

  test('are listed page by page', async () => {
    const node = await newNode();
    const made = [await newRun(node), await newRun(node), await newRun(node)];
    const page = await api.as('operator', 'GET', `/temper/v1/runs?limit=1&marker=${made[2]}`);
    expect(page.body.runs).toMatchObject([{ uuid: made[1], node_name: node.name, cursor: 1, step_count: 2 }]);
  });

  test('are not listed by a state that is none', async () => {
    const { status, err } = await as('operator', 'runs list --state nonsense');
    expect(status).toBe(1);
    expect(err).toContain('must be one or several of open, ended, any, retrying, accepted, running');
  });

  test('that have ended are listed across nodes, by state, verb, node, runbook and time', async () => {
    const [one, two] = [await newNode(), await newNode()];
    const [failed, other, open] = [await newRun(one, 'failed'), await newRun(two, 'failed'), await newRun(two)];
    const book = '6b7b5a52-6f0e-4ed1-a8f8-6e5e8d2f0c11';
    await api.sql`
      update runs set verb = 'clean', runbook_uuid = ${book}, runbook_name = 'CUSTOM_LIST', created_at = '2030-01-01T00:00:00Z' where id = ${other}`;
    const seen = async (more: string, who: Persona = 'operator') =>
      ((await json(who, `runs list ${more}`)).runs as { uuid: string }[])
        .map(({ uuid }) => uuid)
        .filter((uuid) => [failed, other, open].includes(uuid as RunUuid));
    expect(await seen('--state ended')).toEqual([other, failed]);
    expect(await seen('--state failed', 'lessee-reader')).toEqual([other, failed]);
    expect(await seen('--state ended', 'stranger-admin')).toEqual([]);
    expect(await seen('--state any')).toEqual([other, open, failed]);
    expect(await seen(`--state any --verb clean`)).toEqual([other]);
    expect(await seen(two.name)).toEqual([other, open]);
    expect(await seen(`${two.uuid} --state ended`)).toEqual([other]);
    expect(await seen('--state any --runbook CUSTOM_LIST')).toEqual([other]);
    expect(await seen(`--state any --runbook ${book}`)).toEqual([other]);
    expect(await seen('--state any --since 2029-12-31T00:00:00Z')).toEqual([other]);
    expect(await seen(`--state any --marker ${other}`)).toEqual([open, failed]);
  });

  test('of a node that the caller may not see are not to be found by its name', async () => {
    const foreign = await newNode({ owner: 'project-x', lessee: null });
    const [hidden, missing] = [
      await as('owner-reader', `runs list ${foreign.name}`),
      await as('owner-reader', 'runs list no-such-node'),
    ];
    expect(hidden.status).toBe(1);
    expect(hidden.err.replaceAll(foreign.name, 'no-such-node')).toBe(missing.err);
  });

  test('whose step failed and is tried again are listed as such, with the error', async () => {
    const node = await newNode();
    const [run, well] = [await newRun(node), await newRun(await newNode())];
    await api.sql`update run_steps set state = 'running' where run_id in ${api.sql([run, well])} and index = 1`;
    await api.sql`update run_steps set last_error = 'The BMC did not answer.' where run_id = ${run} and index = 1`;
    const { runs } = await json('operator', 'runs list --state retrying');
    expect(runs).toMatchObject([
      { uuid: run, retrying: true, last_error: 'The BMC did not answer.', step: 'management.set_boot_device' },
    ]);
    expect((await as('operator', 'runs list')).out).toMatch(/ retrying +2\/2 .*The BMC did not answer\.$/m);
    expect((await json('operator', `runs show ${run}`)).phase).toBe('retrying');
  });

  test('are named by the beginning of their UUID, or by their node', async () => {
    const node = await newNode();
    const run = await newRun(node, 'failed');
    expect((await json('lessee-reader', `runs show ${run.slice(0, 13)}`)).uuid).toBe(run);
    expect((await json('lessee-reader', `runs show ${node.name}`)).uuid).toBe(run);
    expect(await as('stranger-admin', `runs show ${run.slice(0, 13)}`)).toMatchObject({ status: 1 });
  });

  test('are shown one by one with their steps', async () => {
    const run = await newRun(await newNode());
    const { status, out } = await as('lessee-reader', `runs show ${run}`);
    expect(status).toBe(0);
    expect(out).toMatch(/^asked by +asker$/m);
    expect(out).toMatch(/^1 +management\.set_boot_device +pending/m);
    expect(await as('stranger-admin', `runs show ${run}`)).toMatchObject({
      status: 1,
      err: expect.stringContaining('404'),
    });
  });

  test('are operated in the step they were seen in, by those who may', async () => {
    const run = await newRun(await newNode());
    const line = ['runs', 'pause', run, '--reason', 'fan swap'];
    expect((await as('lessee-reader', line)).status).toBe(1);
    expect(api.runs.operated).toEqual([]);
    const { status, out } = await as('lessee-member', line);
    expect({ status, out }).toEqual({ status: 0, out: expect.stringContaining('stops before the next one') });
    expect(api.runs.operated).toMatchObject([{ run, act: 'pause', cursor: 1, reason: 'fan swap' }]);
  });
});

test('a node is frozen, shown frozen, and thawed', async () => {
  const node = await newNode();
  expect((await as('operator', ['freezes', 'add', node.name, '--reason', 'fan swap', '--for', '2h'])).status).toBe(0);
  const { freezes } = await json('owner-reader', `freezes list ${node.name}`);
  expect(freezes).toMatchObject([{ reason: 'fan swap', active: true }]);
  const uuid = freezes[0].uuid as string;
  expect((await as('lessee-reader', 'freezes list')).out).toContain(uuid);
  expect((await as('stranger-admin', 'freezes list')).out).not.toContain(uuid);
  expect(await as('owner-admin', `freezes end ${uuid}`)).toMatchObject({
    status: 1,
    err: expect.stringContaining('403'),
  });
  expect((await as('operator', `freezes end ${uuid}`)).status).toBe(0);
  expect((await json('operator', `freezes list ${node.name}`)).freezes).toEqual([]);
});

test('doctor finds workers and access, by the same API', async () => {
  await newNode();
  const { findings } = await json('operator', 'doctor');
  expect(findings.slice(0, 3)).toMatchObject([
    { name: 'API', is: 'ok' },
    { name: 'access', is: 'ok' },
    { name: 'workers', is: 'ok', says: '(default): 1' },
  ]);
  // Workers are the operator's to see: a tenant's doctor passes them over, and fails nothing for it.
  const { findings: ofTenant } = await json('stranger-admin', 'doctor');
  expect(ofTenant).toMatchObject(expect.arrayContaining([expect.objectContaining({ name: 'workers', is: 'skipped' })]));
});
