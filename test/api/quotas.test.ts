/** Quotas: one project cannot use up the runs, streams, allocations and runbooks that all share. */
import { randomUUID } from 'node:crypto';
import { createStreams } from '../../src/api';
import { createRuns } from '../../src/runs';
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

const quotas = {
  runs: 2,
  streams: 2,
  allocations: 2,
  runbooks: 2,
  rollouts: 2,
  rollout_plans: 2,
  runbook_revisions: 2,
};
const engineAway = () => Promise.reject(new Error('the engine is away'));

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ settings: { quotas } });
  await addWorker(api.sql);
  const { start } = createRuns({
    inventory: api.inventory,
    vault: api.rooms.vault,
    client: { withDeadline: (_: unknown, work: () => unknown) => work(), workflow: { start: engineAway } } as never,
    timing: { powerTimeoutMs: 1_000, softPowerTimeoutMs: 1_000, settleMs: 1_000, pollMs: 100 },
    log: api.rooms.log,
    quota: quotas.runs,
  });
  Object.assign(api.rooms.runs, { start });
});
afterAll(() => api?.close());

const refusal = (quota: string, project: string) =>
  expect.stringMatching(
    new RegExp(`^Project ${project} has 2 [a-z ]+, which is its quota \\(${quota}\\)\\. .*TEMPER_QUOTA_`),
  );

describe('a project that has as many as it may have is refused with the name of the quota', () => {
  const steps = [{ interface: 'power', step: 'reboot', order: 1, args: {} }];
  const runbook = (who: Persona) => api.as(who, 'POST', '/v1/runbooks', { body: { name: `B${randomUUID()}`, steps } });

  test('runbooks: others and the system go on, and one that is deleted makes room', async () => {
    const first = await runbook('owner-manager');
    expect([first.status, (await runbook('owner-manager')).status]).toEqual([201, 201]);
    const third = await runbook('owner-manager');
    expect([third.status, faultOf(third)]).toEqual([429, refusal('runbooks', owner)]);
    expect((await runbook('lessee-manager')).status).toBe(201);
    for (let at = 0; at < 3; at++) expect((await runbook('operator')).status).toBe(201);
    await api.as('owner-manager', 'DELETE', `/v1/runbooks/${first.body.uuid}`);
    expect((await runbook('owner-manager')).status).toBe(201);
  });

  const allocation = (who: Persona) => api.as(who, 'POST', '/v1/allocations', { body: { resource_class: 'none' } });

  test('allocations', async () => {
    expect([(await allocation('owner-member')).status, (await allocation('owner-manager')).status]).toEqual([201, 201]);
    const third = await allocation('owner-member');
    expect([third.status, faultOf(third)]).toEqual([429, refusal('allocations', owner)]);
    expect((await allocation('lessee-member')).status).toBe(201);
    for (let at = 0; at < 3; at++) expect((await allocation('operator')).status).toBe(201);
  });

  const node = async (more: object = {}): Promise<string> => {
    const [row] = await api.sql<{ uuid: string }[]>`
      insert into nodes ${api.sql({ name: `n-${randomUUID()}`, driver: 'fake-hardware', provision_state: 'active', owner, lessee, ...more })}
      returning uuid`;
    return row!.uuid;
  };
  const reboot = (who: Persona, uuid: string) =>
    api.as(who, 'PUT', `/v1/nodes/${uuid}/states/power`, { body: { target: 'rebooting' } });

  test('open runs count for the project that asked, whichever project owns the node; those that have ended do not', async () => {
    const nodes = await Promise.all([node(), node(), node()]);
    expect((await reboot('lessee-member', nodes[0]!)).status).toBe(202);
    expect((await reboot('lessee-member', nodes[1]!)).status).toBe(202);
    const third = await reboot('lessee-member', nodes[2]!);
    expect([third.status, faultOf(third)]).toEqual([429, refusal('runs', lessee)]);
    expect(await api.sql`select 1 from nodes where uuid = ${nodes[2]!} and reservation is not null`).toHaveLength(0);
    expect((await reboot('owner-member', nodes[2]!)).status).toBe(202);
    for (let at = 0; at < 3; at++) expect((await reboot('operator', await node())).status).toBe(202);
    await api.sql`update runs set finished_at = now(), state = 'succeeded' where node_uuid = ${nodes[0]!}`;
    await api.sql`update nodes set reservation = null where uuid = ${nodes[0]!}`;
    expect((await reboot('lessee-member', nodes[0]!)).status).toBe(202);
  });

  test('event streams are counted over all callers of the project', async () => {
    const streams = createStreams({ inventory: api.inventory, log: api.rooms.log, quota: quotas.streams });
    const open = (caller: string, project: string | null) =>
      streams.open({ caller, project, ofSystem: project === null }, () => false);
    try {
      const [first] = [await open('a', owner), await open('b', owner)];
      await expect(open('c', owner)).rejects.toMatchObject({ code: 'QuotaExceeded', facts: { quota: 'streams' } });
      await open('d', lessee);
      await open('e', null);
      first.close();
      await open('c', owner);
    } finally {
      streams.close();
    }
  });
});

describe('revisions of runbooks', () => {
  const steps = (why: string) => [{ interface: 'power', step: 'reboot', order: 1, args: { why } }];
  const name = 'CUSTOM_CHANGED_OFTEN';
  const change = (who: Persona, path: string, value: unknown) =>
    api.as(who, 'PATCH', `/v1/runbooks/${name}`, { body: [{ op: 'add', path, value }] });
  const traits = (who: Persona) =>
    api.as(who, 'PUT', `/v1/runbooks/${name}/traits`, { body: { traits: ['CUSTOM_ANOTHER'] } });
  const parameters = (who: Persona) =>
    api.as(who, 'PUT', `/temper/v1/runbooks/${name}/parameters`, {
      body: { parameters: [{ name: 'size', schema: { type: 'integer' } }] },
    });

  test('hold so many MiB, also of runbooks that were deleted; what makes no revision and callers of the system go on', async () => {
    const made = (who: Persona, why: string) =>
      api.as(who, 'POST', '/v1/runbooks', { body: { name, steps: steps(why) } });
    for (let at = 0; at < 2; at++) {
      expect((await made('stranger-admin', 'x'.repeat(900_000))).status).toBe(201);
      expect((await change('stranger-admin', '/steps', steps('y'.repeat(900_000)))).status).toBe(at === 0 ? 200 : 429);
      if (at === 0) expect((await api.as('stranger-admin', 'DELETE', `/v1/runbooks/${name}`)).status).toBe(204);
    }
    const full = await change('stranger-admin', '/steps', steps('z'));
    expect([full.status, faultOf(full)]).toEqual([
      429,
      `Project ${stranger} has 2 MiB of revisions of runbooks, which is its quota (runbook_revisions). Revisions are not deleted, so change runbooks less often, or ask an operator to raise TEMPER_QUOTA_RUNBOOK_REVISIONS.`,
    ]);
    expect([(await traits('stranger-admin')).status, (await parameters('stranger-admin')).status]).toEqual([429, 429]);
    expect((await change('stranger-admin', '/extra', { a: 1 })).status).toBe(200);
    expect([(await traits('operator')).status, (await parameters('operator')).status]).toEqual([204, 200]);
    expect((await api.as('stranger-admin', 'DELETE', `/v1/runbooks/${name}`)).status).toBe(204);
    expect((await made('stranger-admin', 'z')).status).toBe(429);
  });

  test('count 4 KiB at least each, so that there are not ever more of short ones', async () => {
    await api.sql`
      insert into runbook_revisions (runbook_uuid, revision, digest, name, owner, public, traits, disable_ramdisk)
      select gen_random_uuid(), n, 'd', 'n', 'many-short', false, '{}', false from generate_series(1, 512) n`;
    await expect(api.inventory.quotas.require('runbook_revisions', 'many-short', 2)).rejects.toMatchObject({
      code: 'QuotaExceeded',
    });
    await expect(api.inventory.quotas.require('runbook_revisions', 'many-short', 3)).resolves.toBeUndefined();
  });
});

test('0 is any number', async () => {
  await expect(api.inventory.quotas.require('runbooks', owner, 0)).resolves.toBeUndefined();
});
