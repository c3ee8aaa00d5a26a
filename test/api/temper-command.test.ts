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
    insert into runs (id, node_uuid, node_name, fence, story, verb, state, input, owner, lessee, lease_id, requester, rule_set,
      workflow_id, cursor, finished_at)
    values (${run}, ${node.uuid}, ${node.name}, 1, 'service', 'service', ${state}, ${api.sql.json({ steps: [] })}, ${owner}, ${lessee},
      ${lease!.lease_id}, ${api.sql.json(requester)}, 'x', ${`w-${run}`}, 1, ${state === 'failed' ? new Date() : null})`;
  for (const [index, step] of ['reboot', 'set_boot_device'].entries())
    await api.sql`insert into run_steps (run_id, index, interface, step) values (${run}, ${index}, 'management', ${step})`;
  return run;
};

describe('runs', () => {
  test('that are going on are listed to those who may see them, and to nobody else', async () => {
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

  test.each(['succeeded', 'nonsense'])('are not listed by state %s', async (state) => {
    const { status, err } = await as('operator', `runs list --state ${state}`);
    expect(status).toBe(1);
    expect(err).toContain('accepted, running, paused, waiting, parked');
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
  expect((await as('stranger-admin', 'doctor')).status).toBe(1);
});
