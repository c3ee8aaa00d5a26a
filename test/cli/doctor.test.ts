/** `temper doctor`, `freezes` and `replay`: what they ask, what they say, and how they end. */
import type { DoctorCheck } from '../../src/cli';
import { untilOf } from '../../src/cli/runs/freezes';
import { temper } from './support/command';
import { type Answer, type Double, fault, nowhere, startDouble } from './support/double';

let api: Double;
let answers: Record<string, Answer>;
const good: Record<string, Answer> = {
  '/': { json: { default_version: { min_version: '1.1', version: '1.115' } } },
  '/v1/nodes': { json: { nodes: [{ uuid: 'n', conductor_group: '' }] } },
  '/temper/v1/recovery': { json: { recovery: null, done: false, lines: [] } },
  '/v1/conductors': { json: { conductors: [{ hostname: 'w', conductor_group: '', alive: true }] } },
  '/v1/nodes/n-1/management/boot_device': { json: { boot_device: 'pxe' } },
};
beforeAll(async () => {
  api = await startDouble(
    ({ path }) => answers[path] ?? answers[path.split('?')[0]!] ?? fault(404, 'The resource could not be found.'),
  );
});
beforeEach(() => {
  answers = { ...good };
  api.asked.length = 0;
});
afterAll(() => api.close());

const does = (line: string | readonly string[], world: object = {}) =>
  temper(line, { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' }, ...world });

describe('doctor', () => {
  test('says what it found, and that nothing is wrong', async () => {
    const checks = (): DoctorCheck[] => [{ name: 'database', find: async () => ({ is: 'ok', says: 'answers' }) }];
    const { status, out } = await does('doctor --node n-1', { checks });
    expect(status).toBe(0);
    expect(out).toBe(
      [
        `ok        API: ${api.url} answers, versions 1.1 to 1.115`,
        'ok        access: these credentials see nodes',
        'ok        workers: (default): 1',
        'ok        recovery: nothing is held back',
        'ok        ramdisks: none: 1',
        'ok        database: answers',
        'ok        BMC of n-1: answers',
        'Nothing is wrong.\n',
      ].join('\n'),
    );
  });

  test("says what needs an operator's rights, and counts it as no failure", async () => {
    for (const path of ['/v1/conductors', '/temper/v1/recovery', '/v1/nodes/n-1/management/boot_device'])
      answers[path] = fault(403, 'Access was denied.');
    const { status, out } = await does('doctor --node n-1');
    for (const name of ['workers', 'recovery', 'BMC of n-1'])
      expect(out).toContain(`skipped   ${name}: this needs an operator's rights`);
    expect(out).toContain('Nothing is wrong.\n');
    expect(status).toBe(0);
  });

  test('says which ramdisks nodes boot', async () => {
    const node = { driver: 'redfish', deploy_interface: 'direct', boot_interface: 'redfish-virtual-media' };
    const network = { ...node, boot_interface: 'ipxe' };
    const nodes = [
      { ...node, driver_info: { deploy_iso: 'ramdisk:debian' } },
      { ...network, driver_info: { deploy_iso: 'ramdisk:debian' } },
      { ...node, driver_info: {} },
      { ...network, driver_info: { deploy_iso: null } },
      { ...node, driver_info: { deploy_iso: 'https://images.example.org/r.iso' } },
      { ...network, driver_info: { deploy_kernel: 'http://192.0.2.9/k' } },
      { ...node, deploy_interface: 'noop', driver_info: {} },
    ].map((one) => ({ conductor_group: '', ...one }));
    answers['/v1/nodes'] = { json: { nodes } };
    expect((await does('doctor')).out).toContain(
      'ok        ramdisks: TEMPER_DEFAULT_RAMDISK: 2, debian: 2, none: 1, what the operator serves: 2\n',
    );
  });

  test('counts the nodes of every page', async () => {
    const page = (uuid: string, conductor_group: string, more: object) => ({
      json: { nodes: [{ uuid, conductor_group }], ...more },
    });
    answers['/v1/nodes'] = page('n-1', '', { next: 'http://192.0.2.1/v1/nodes?marker=n-1' });
    answers['/v1/nodes?fields=uuid,conductor_group&marker=n-1'] = page('n-2', 'rack-7', {});
    answers['/v1/nodes?fields=uuid,driver,boot_interface,deploy_interface,driver_info&marker=n-1'] = page(
      'n-2',
      '',
      {},
    );
    const { out } = await does('doctor');
    expect(out).toContain('FAILED    workers: (default): 1, rack-7: 0\n');
    expect(out).toContain('ok        ramdisks: none: 2\n');
  });

  test.each([
    [
      '/temper/v1/recovery',
      { json: { recovery: { reason: 'the database is older' }, done: false, lines: [] } },
      'FAILED    recovery: the database is older',
      '`temper recover --yes`',
      1,
    ],
    [
      '/v1/nodes',
      fault(403, 'Access was denied.'),
      'FAILED    access: Access was denied. (HTTP 403)',
      'credentials',
      3,
    ],
    [
      '/v1/conductors',
      { json: { conductors: [] } },
      'FAILED    workers: (default): 0',
      'Start `worker bmc` for (default)',
      1,
    ],
    [
      '/v1/conductors',
      { json: { conductors: [{ hostname: 'w', conductor_group: 'rack-7', alive: false }] } },
      'FAILED    workers: (default): 0, rack-7: 0',
      'Start `worker bmc` for (default), rack-7',
      1,
    ],
    [
      '/v1/nodes/n-1/management/boot_device',
      fault(502, 'The BMC did not answer.'),
      'FAILED    BMC of n-1',
      'TEMPER_BMC_NETWORKS',
      1,
    ],
  ])('names what is wrong with %s and what to do, and fails', async (path, answer, says, todo, failed) => {
    answers[path] = answer;
    const { status, out } = await does('doctor --node n-1');
    expect(status).toBe(1);
    expect(out).toContain(says);
    expect(out).toMatch(new RegExp(`-> .*${todo.replace(/[()`]/g, '.')}`));
    expect(out).toContain(`\n${failed} of 6 failed.\n`);
  });

  test('goes through to the end where the API is away, and a check that breaks is a finding', async () => {
    const checks = (): DoctorCheck[] => [{ name: 'database', find: () => Promise.reject(new Error('boom')) }];
    const { status, out } = await temper('doctor', { env: { TEMPER_URL: await nowhere() }, checks });
    expect(status).toBe(1);
    expect(out.match(/FAILED/g)).toHaveLength(6);
    expect(out).toContain('database: boom');
    expect(out).toContain('skipped   BMC');
  });

  test('tells programs the same', async () => {
    const { findings } = JSON.parse((await does('--json doctor')).out);
    expect(findings.map(({ name, is }: { name: string; is: string }) => [name, is])).toEqual([
      ['API', 'ok'],
      ['access', 'ok'],
      ['workers', 'ok'],
      ['recovery', 'ok'],
      ['ramdisks', 'ok'],
      ['BMC', 'skipped'],
    ]);
  });
});

describe('freezes', () => {
  const freeze = {
    uuid: 'f-1',
    node_uuid: 'n',
    node_name: 'n-1',
    reason: 'fan swap',
    requester: { user_name: 'ann', user_id: null },
    created_at: 'T0',
    until: null,
    active: true,
  };

  test('are listed, of all nodes or of one', async () => {
    answers['/temper/v1/freezes'] = { json: { freezes: [freeze] } };
    answers['/temper/v1/nodes/n-1/freezes'] = { json: { freezes: [] } };
    expect((await does('freezes list')).out).toMatch(/^f-1 +n-1 +yes +ann +T0 +it is ended +fan swap$/m);
    expect((await does('freezes list n-1 --all')).out).toBe('No freezes.\n');
    expect(api.asked.at(-1)!.path).toBe('/temper/v1/nodes/n-1/freezes?all=true');
  });

  test('are made and ended', async () => {
    answers['/temper/v1/nodes/n-1/freezes'] = { status: 201, json: freeze };
    answers['/temper/v1/freezes/f-1'] = { status: 204 };
    const added = await does(['freezes', 'add', 'n-1', '--reason', 'fan swap']);
    expect(added.out).toBe('Node n-1 is frozen until it is ended: freeze f-1.\n');
    expect(api.asked[0]!.body).toEqual({ reason: 'fan swap', until: null });
    expect((await does('freezes end f-1')).out).toBe('Freeze f-1 has ended.\n');
    expect(api.asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/temper/v1/freezes/f-1' });
  });

  test.each([
    ['30m', '1970-01-01T00:30:00.000Z'],
    ['2h', '1970-01-01T02:00:00.000Z'],
    ['3d', '1970-01-04T00:00:00.000Z'],
  ])('last for %s', (span, until) => expect(untilOf({ for: span }, 0)).toBe(until));

  test.each([
    ['a span that is none', ['--for', '2 weeks']],
    ['a time and a span', ['--for', '2h', '--until', '2030-01-01T00:00:00Z']],
  ])('are not made with %s', async (_, more) => {
    expect((await does(['freezes', 'add', 'n-1', '--reason', 'x', ...more])).status).toBe(2);
    expect(api.asked).toEqual([]);
  });
});

describe('replay', () => {
  const uuid = '1d054787-b394-41af-888c-9b47d60f59bc';
  const run = { uuid, node_uuid: 'n', verb: 'clean' };

  test('takes a run by its UUID, or a workflow without asking the API', async () => {
    answers[`/temper/v1/runs/${uuid}`] = { json: run };
    const of: unknown[] = [];
    const replay = async (given: unknown) => {
      of.push(given);
      return { events: 42, fault: null };
    };
    expect(await does(`replay ${uuid}`, { replay })).toEqual({
      status: 0,
      err: '',
      out: 'This build replays all 42 events.\n',
    });
    const workflows = [
      `node-${uuid}.clean.${uuid}`,
      `node-${uuid}.call.req-1`,
      `rollout-${uuid}`,
      'reconcile-2026-11-23T20:00:00Z',
    ];
    for (const id of workflows) await does(`replay ${id}`, { replay });
    expect(of).toEqual([run, ...workflows]);
    expect(api.asked).toHaveLength(1);
  });

  test('takes a run by its first characters, as lists on a terminal have it, or by its node', async () => {
    answers[`/temper/v1/runs/${uuid}`] = { json: run };
    answers['/temper/v1/runs?state=any&run=1d054787&limit=2'] = { json: { runs: [run] } };
    answers['/temper/v1/runs?state=any&node=1d054787&limit=1'] = { status: 404 };
    const named = ['bmc-1', 'bmc-1.rack.example'];
    for (const node of named) answers[`/temper/v1/runs?state=any&node=${node}&limit=1`] = { json: { runs: [run] } };
    const of: unknown[] = [];
    const replay = async (given: unknown) => {
      of.push(given);
      return { events: 42, fault: null };
    };
    expect((await does('replay 1d054787', { replay })).err).toBe('');
    for (const node of named) expect((await does(`replay ${node}`, { replay })).err).toBe('');
    expect(of).toEqual([run, run, run]);
  });

  test('fails where this build does not replay the run', async () => {
    const replay = async () => ({ events: 42, fault: 'event 7' });
    const { status, out } = await does(`replay node-${uuid}.clean.${uuid}`, { replay });
    expect(status).toBe(1);
    expect(out).toContain('does not replay this run: event 7');
  });
});
