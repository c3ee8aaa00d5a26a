/** Runs on the wire: who sees them, through a change of lease and owner, what they show, and who may operate them. */
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { planSteps } from '../../src/model/lifecycle/plan-steps';
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ settings: { temporalUi: 'http://ui.example.org', temporalNamespace: 'temper' } });
});
afterAll(() => api?.close());

let count = 0;
const leasedNode = async (): Promise<NodeUuid> => {
  const [node] = await api.sql<{ uuid: NodeUuid }[]>`
    insert into nodes (name, driver, provision_state, owner, lessee) values (${`run-node-${++count}`}, 'fake-hardware', 'active', ${owner}, ${lessee}) returning uuid`;
  return node!.uuid;
};

/** A run accepted on a node, as the store keeps it; freed again unless it should hold the node. */
const acceptedRun = async (node: NodeUuid, { holds = false } = {}): Promise<RunUuid> => {
  const run = api.inventory.runs.newId();
  const steps = planSteps(
    [
      { interface: 'power', step: 'reboot' },
      { interface: 'management', step: 'attach_virtual_media', args: { image_url: 'http://u:geheim@images/a.iso' } },
    ],
    'service',
    { driver: 'fake-hardware' },
  );
  await api.inventory.runs.accept({
    run,
    node_uuid: node,
    from: 'active',
    revision: null,
    to: holds ? 'servicing' : null,
    target: 'active',
    target_power_state: null,
    kind: 'service',
    verb: 'service',
    runbook: { uuid: '6b7b5a52-6f0e-4ed1-a8f8-6e5e8d2f0c11', name: 'CUSTOM_X', revision: 3 },
    requester: {
      user_id: 'u',
      user_name: 'asker',
      project_id: lessee,
      system_scope: null,
      strategy: 'keystone',
      request_id: 'req-1',
    },
    rule_set: 'abc',
    workflow_id: `node-${node}.service.${run}`,
    input: {
      kind: 'service',
      verb: 'service',
      node_name: null,
      driver: 'fake-hardware',
      conductor_group: '',
      steps,
      target: 'active',
      ends: 'done',
      fault: null,
      runbook: 'CUSTOM_X',
      rule_set: 'abc',
      timing: { powerTimeoutMs: 1, softPowerTimeoutMs: 1, settleMs: 1, pollMs: 1 },
    },
  });
  await api.inventory.runSteps.insert(run, steps);
  if (!holds) await api.sql`update nodes set reservation = null where uuid = ${node}`;
  return run;
};

const see = (who: Persona, path: string) => api.as(who, 'GET', path);

describe('a run', () => {
  test.each([
    ['operator', 200],
    ['system-reader', 200],
    ['owner-reader', 200],
    ['owner-member', 200],
    ['lessee-reader', 200],
    ['lessee-member', 200],
    ['stranger-admin', 404],
  ] as const)('accepted under the present lease is shown to %s with %i', async (who, status) => {
    const node = await leasedNode();
    const run = await acceptedRun(node);
    const reply = await see(who, `/temper/v1/runs/${run}`);
    expect(reply.status).toBe(status);
    const list = await see(who, `/temper/v1/nodes/${node}/runs`);
    if (status === 200) expect(list.body.runs.map(({ uuid }: { uuid: string }) => uuid)).toEqual([run]);
    else expect(list.status).toBe(404);
  });

  test('that is hidden answers as one that never was', async () => {
    const run = await acceptedRun(await leasedNode());
    const never = '3f2b1d4c-5a69-4788-9c01-2d3e4f506172';
    const [hidden, missing] = await Promise.all([
      see('stranger-admin', `/temper/v1/runs/${run}`),
      see('stranger-admin', `/temper/v1/runs/${never}`),
    ]);
    expect(hidden.status).toBe(404);
    expect(faultOf(hidden)!.replaceAll(run, never)).toBe(faultOf(missing));
  });

  test('of a former lease is hidden from the lessee, also when the same project leases the node again', async () => {
    const node = await leasedNode();
    const old = await acceptedRun(node);
    await api.sql`update nodes set lessee = null where uuid = ${node}`;
    expect((await see('lessee-member', `/temper/v1/runs/${old}`)).status).toBe(404);
    await api.sql`update nodes set lessee = ${lessee} where uuid = ${node}`;
    expect((await see('lessee-member', `/temper/v1/runs/${old}`)).status).toBe(404);
    const fresh = await acceptedRun(node);
    const list = await see('lessee-member', `/temper/v1/nodes/${node}/runs?limit=1`);
    expect(list.body.runs.map(({ uuid }: { uuid: string }) => uuid)).toEqual([fresh]);
    expect((await see('owner-reader', `/temper/v1/runs/${old}`)).status).toBe(200);
  });

  test('belongs to the node’s present owner, not to the former one', async () => {
    const node = await leasedNode();
    const run = await acceptedRun(node);
    await api.sql`update nodes set owner = ${stranger} where uuid = ${node}`;
    expect((await see('owner-admin', `/temper/v1/runs/${run}`)).status).toBe(404);
    expect((await see('stranger-admin', `/temper/v1/runs/${run}`)).status).toBe(200);
  });

  test('of a deleted node is shown to the system alone', async () => {
    const node = await leasedNode();
    const run = await acceptedRun(node);
    await api.sql`delete from nodes where uuid = ${node}`;
    expect((await see('operator', `/temper/v1/runs/${run}`)).status).toBe(200);
    expect((await see('owner-admin', `/temper/v1/runs/${run}`)).status).toBe(404);
  });
});

describe('what a run shows', () => {
  test('has verb, runbook, requester, steps, sources and a link into the engine’s UI, and no secret', async () => {
    const node = await leasedNode();
    const run = await acceptedRun(node);
    const { body, text } = await see('lessee-member', `/temper/v1/runs/${run}`);
    expect(body).toMatchObject({
      uuid: run,
      verb: 'service',
      state: 'accepted',
      runbook: { name: 'CUSTOM_X' },
      requester: { user_name: 'asker' },
      rule_set: 'abc',
      lessee,
      sources: ['store'],
    });
    expect(body.steps.map(({ step, state }: { step: string; state: string }) => [step, state])).toEqual([
      ['reboot', 'pending'],
      ['attach_virtual_media', 'pending'],
    ]);
    expect(body.links).not.toHaveProperty('temporal_ui');
    const whole = await see('operator', `/temper/v1/runs/${run}`);
    expect(whole.body.links.temporal_ui).toBe(
      `http://ui.example.org/namespaces/temper/workflows/${encodeURIComponent(`node-${node}.service.${run}`)}/history`,
    );
    expect(text).not.toContain('geheim');
    const linked = async (who: Persona) => {
      const list = (await see(who, `/temper/v1/nodes/${node}/runs`)).body.runs as { links: object }[];
      return list.map(({ links }) => 'temporal_ui' in links);
    };
    expect([await linked('operator'), await linked('lessee-member')]).toEqual([[true], [false]]);
    await api.sql`update runs set state = 'succeeded', finished_at = now() where id = ${run}`;
    expect(await linked('operator')).toEqual([false]); // it had no workflow
    await api.sql`update runs set workflow_run_id = 'e1' where id = ${run}`;
    expect(await linked('operator')).toEqual([true]);
  });

  test('says to a lessee what a BMC did, and never where it is', async () => {
    const node = await leasedNode();
    const run = await acceptedRun(node);
    const error =
      'The BMC of node n at https://bmc-7.example.org:8443 did not answer: connect ECONNREFUSED 192.0.2.7:8443.';
    await api.sql`update nodes set maintenance = true, maintenance_reason = ${error}, last_error = ${error} where uuid = ${node}`;
    await api.sql`update runs set state = 'failed', finished_at = now(), last_error = ${error} where id = ${run}`;
    await api.sql`update run_steps set last_error = ${error}, note = ${error} where run_id = ${run} and index = 0`;
    await api.sql`
      insert into events (kind, node_uuid, run_id, project, lessee, data)
      values ('run.failed', ${node}, ${run}, ${owner}, ${lessee}, ${api.sql.json({ error })})`;
    // The colon keeps digits of a UUID out.
    const where = /bmc-7|192\.0\.2\.7|:8443/;
    const paths = [
      `/temper/v1/runs/${run}`,
      `/temper/v1/nodes/${node}/runs`,
      `/temper/v1/runs?state=ended&node=${node}`,
      `/v1/nodes/${node}`,
      `/v1/nodes/${node}/states`,
      '/v1/nodes/detail',
      `/v1/nodes?fields=uuid,maintenance_reason`,
      `/temper/v1/runs/${run}/events`,
    ];
    for (const path of paths) {
      const seen = await see('lessee-admin', path);
      expect([path, seen.status, where.test(seen.text)]).toEqual([path, 200, false]);
      expect([path, where.test((await see('operator', path)).text)]).toEqual([path, true]);
    }
    const { body } = await see('lessee-admin', `/temper/v1/runs/${run}`);
    expect(body.last_error).toBe('The BMC of node n did not answer: connect ECONNREFUSED (address hidden).');
  });

  test('says by which revision of its runbook it runs, and is found by it', async () => {
    const run = await acceptedRun(await leasedNode());
    const runbook = '6b7b5a52-6f0e-4ed1-a8f8-6e5e8d2f0c11';
    expect((await see('operator', `/temper/v1/runs/${run}`)).body.runbook).toEqual({
      uuid: runbook,
      name: 'CUSTOM_X',
      revision: 3,
    });
    const found = async (query: string) => {
      const { body } = await see('operator', `/temper/v1/runs?state=any&${query}`);
      return body.runs.filter(({ uuid }: { uuid: string }) => uuid === run);
    };
    expect(await found(`runbook=${runbook}&runbook_revision=3`)).toMatchObject([{ runbook_revision: 3 }]);
    expect(await found('runbook=CUSTOM_X&runbook_revision=3')).toHaveLength(1);
    expect(await found('runbook=CUSTOM_X&runbook_revision=2')).toEqual([]);
    for (const query of ['runbook_revision=3', 'runbook=CUSTOM_X&runbook_revision=x'])
      expect([query, (await see('operator', `/temper/v1/runs?${query}`)).status]).toEqual([query, 400]);
  });

  test.each(['reservation', 'last_error', 'maintenance_reason'])(
    'is not shown by an order: sort_key %s',
    async (key) => {
      expect((await see('lessee-admin', `/v1/nodes?sort_key=${key}`)).status).toBe(403);
      expect((await see('owner-admin', `/v1/nodes?sort_key=${key}`)).status).toBe(403);
      expect((await see('operator', `/v1/nodes?sort_key=${key}`)).status).toBe(200);
      expect((await see('lessee-admin', '/v1/nodes?sort_key=name')).status).toBe(200);
    },
  );

  test.each([
    ['limit=0', /limit/],
    ['limit=x', /limit/],
    ['marker=yesterday', /marker/],
    ['colour=red', /colour/],
  ])('list refuses %s by name', async (query, says) => {
    const reply = await see('operator', `/temper/v1/nodes/${await leasedNode()}/runs?${query}`);
    expect(reply.status).toBe(400);
    expect(faultOf(reply)).toMatch(says);
  });
});

describe('the runs of a node', () => {
  const listed = async (who: Persona, node: string, query: string) => {
    const { status, body } = await see(who, `/temper/v1/nodes/${node}/runs?${query}`);
    return status === 200 ? body.runs.map(({ uuid }: { uuid: string }) => uuid) : status;
  };

  test('are paged by the last run of the page before, also where several came at one moment', async () => {
    const node = await leasedNode();
    const runs: RunUuid[] = [];
    for (let nth = 0; nth < 5; nth++) runs.push(await acceptedRun(node));
    await api.sql`update runs set created_at = '2026-01-01T00:00:00.000001Z' where id in ${api.sql(runs.slice(0, 3))}`;
    const seen: string[] = [];
    for (let page = await listed('operator', node, 'limit=2'); page.length > 0; ) {
      seen.push(...page);
      page = await listed('operator', node, `limit=2&marker=${page.at(-1)}`);
    }
    expect(seen).toEqual(await listed('operator', node, 'limit=100'));
    expect([...seen].sort()).toEqual([...runs].sort());
  });

  test('have no marker that the list does not hold', async () => {
    const node = await leasedNode();
    const old = await acceptedRun(node);
    expect(await listed('operator', await leasedNode(), `marker=${old}`)).toBe(404);
    expect(await listed('operator', node, `marker=${api.inventory.runs.newId()}`)).toBe(404);
    await api.sql`update nodes set lessee = ${stranger} where uuid = ${node}`;
    expect(await listed('owner-reader', node, `marker=${old}`)).toEqual([]);
    expect(await listed('stranger-admin', node, `marker=${old}`)).toBe(404);
  });
});

describe('operating a run', () => {
  const acts = ['abort', 'pause', 'resume', 'retry', 'skip', 'fail'] as const;
  const may: Readonly<Record<string, readonly Persona[]>> = {
    skip: ['operator', 'system-member', 'owner-admin', 'owner-manager'],
    other: [
      'operator',
      'system-member',
      'owner-admin',
      'owner-manager',
      'owner-member',
      'lessee-manager',
      'lessee-member',
    ],
  };
  const everybody: readonly Persona[] = [...may.other!, 'system-reader', 'owner-reader', 'lessee-reader'];

  test.each(
    acts.flatMap((act) =>
      everybody.map((who) => [who, act, (may[act] ?? may.other)!.includes(who) ? 202 : 403] as const),
    ),
  )('%s asks for %s: %i', async (who, act, status) => {
    const run = await acceptedRun(await leasedNode(), { holds: true });
    const reply = await api.as(who, 'POST', `/temper/v1/runs/${run}/${act}`, { body: { reason: 'a test' } });
    expect(reply.status).toBe(status);
    if (status === 202) {
      expect(reply.body.will).toEqual(expect.any(String));
      expect(api.runs.operated.at(-1)).toMatchObject({
        run,
        act,
        cursor: 0,
        reason: 'a test',
        asked: { rule: `temper:run:${act}` },
      });
    } else expect(faultOf(reply)).toContain(`temper:run:${act}`);
  });

  test('a stranger gets no events', async () => {
    const run = await acceptedRun(await leasedNode(), { holds: true });
    expect(
      (await api.as('stranger-admin', 'POST', `/temper/v1/runs/${run}/abort`, { body: { reason: 'x' } })).status,
    ).toBe(404);
  });

  test('an abort says before it happens that a step which must not be cut short ends first', async () => {
    const run = await acceptedRun(await leasedNode(), { holds: true });
    await api.sql`update runs set state = 'running', cursor = 1 where id = ${run}`;
    const reply = await api.as('operator', 'POST', `/temper/v1/runs/${run}/abort`, { body: { reason: 'x' } });
    expect(reply.body.will).toBe(
      'Step management.attach_virtual_media ends at once if its command was not sent yet. Otherwise it finishes first, within TEMPER_ABORT_TIMEOUT_MS. Then the run ends.',
    );
  });

  test('an abort that waits stands in the run, with who asked and when', async () => {
    const run = await acceptedRun(await leasedNode(), { holds: true });
    await api.sql`update runs set state = 'running', cursor = 1 where id = ${run}`;
    const shown = async () => (await api.as('operator', 'GET', `/temper/v1/runs/${run}`)).body.abort;
    expect(await shown()).toBeNull();
    await api.inventory.runs.abortAsked(run as never, 'ada');
    await api.inventory.runs.abortAsked(run as never, 'another');
    expect(await shown()).toEqual({ by: 'ada', at: expect.stringMatching(/^20\d\d-/) });
  });

  test.each([
    ['no body', undefined],
    ['no reason', {}],
    ['an empty reason', { reason: '  ' }],
    ['an unknown key', { reason: 'x', force: true }],
  ])('is refused with %s', async (_, body) => {
    const run = await acceptedRun(await leasedNode(), { holds: true });
    expect((await api.as('operator', 'POST', `/temper/v1/runs/${run}/abort`, { body })).status).toBe(400);
  });

  test('a run that has ended takes no more', async () => {
    const run = await acceptedRun(await leasedNode());
    await api.sql`update runs set state = 'failed', finished_at = now() where id = ${run}`;
    const reply = await api.as('operator', 'POST', `/temper/v1/runs/${run}/abort`, { body: { reason: 'late' } });
    expect(reply.status).toBe(409);
    expect(faultOf(reply)).toContain('has ended: failed');
  });
});

describe('the steps of a node', () => {
  test('are listed with arguments, so that a runbook can be written', async () => {
    const { body } = await see('lessee-reader', `/temper/v1/nodes/${await leasedNode()}/steps`);
    const names = body.steps.map(
      (row: { interface: string | null; step: string }) => `${row.interface ?? '*'}.${row.step}`,
    );
    expect(names).toEqual(expect.arrayContaining(['bios.apply_configuration', 'vendor.log_passthrough', '*.hold']));
    const media = body.steps.find(({ step }: { step: string }) => step === 'attach_virtual_media');
    expect(media.args.image_url).toMatchObject({ type: 'string', required: true });
  });

  test('of a hidden node are a 404', async () => {
    expect((await see('stranger-admin', `/temper/v1/nodes/${await leasedNode()}/steps`)).status).toBe(404);
  });
});
