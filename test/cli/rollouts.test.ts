/** `temper rollouts`: plans from files and options, acts with the plan that was read, and progress on a terminal and elsewhere. */
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { temper } from './support/command';
import { type Answer, type Double, startDouble } from './support/double';

const uuid = '0f8fad5b-d9cb-469f-a165-70867728950e';
const plan_hash = `7f3c${'0'.repeat(58)}e1`;
const rollout = {
  uuid,
  name: 'bios',
  state: 'planned',
  verb: 'service',
  runbook: { name: 'CUSTOM_BIOS', revision: 3 },
  code: null,
  reason: null,
  wave: 1,
  waves_total: 4,
  plan_hash,
  created_at: '2026-11-22T10:00:00Z',
  states: {},
  waves: [],
  counters: [],
  summary: {
    selected: 412,
    will_run: 371,
    need_consent: 19,
    refused: [
      { code: 'trait', rule: null, reason: 'CUSTOM_APPROVED_BIOS is not on the node', nodes: 38 },
      { code: 'frozen', rule: null, reason: 'fan swap', nodes: 3 },
    ],
    waves: [1, 19, 93, 258],
    restarts: 371,
    erased: 0,
    harmed_at_most: 4,
    expected_ms: 11_400_000,
  },
};

let api: Double;
let answers: ((path: string) => Answer | undefined) | undefined;
let stream: ((last: string | undefined, response: ServerResponse) => void) | undefined;
beforeAll(async () => {
  api = await startDouble(({ method, path, headers }, response) => {
    if (stream && path.endsWith('/events'))
      return void stream(headers['last-event-id'] as string | undefined, response);
    const own = answers?.(path);
    if (own) return own;
    return { json: method === 'GET' && path.startsWith('/temper/v1/rollouts?') ? { rollouts: [rollout] } : rollout };
  });
});
beforeEach(() => {
  api.asked.length = 0;
  answers = undefined;
  stream = undefined;
});
afterAll(() => api.close());

const world = () => ({ env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });
const does = (line: readonly string[], more: object = {}) => temper(['rollouts', ...line], { ...world(), ...more });

const gate = { metric: { query: 'sum(alarms)', at_most: 0 } };
const answered = {
  answer: 'fail',
  note: 'The value is 3.',
  at: '2026-11-22T10:01:00Z',
  since: '2026-11-22T10:01:00Z',
  until: null,
};
const shownGates = async (answers_: readonly (object | null)[], code: string | null = null): Promise<string> => {
  const spec = { waves: answers_.map(() => ({ gate })), guard: { webhook: uuid } };
  const waves = answers_.map((one, index) => ({ wave: index + 1, size: 1, states: {}, gate: one }));
  answers = () => ({ json: { ...rollout, state: 'paused', code, spec, waves } });
  const { status, out } = await does(['show', uuid]);
  expect(status).toBe(0);
  return out;
};

describe('gates are shown with what they ask', () => {
  test('before they are asked', async () => {
    const text = await shownGates([null]);
    expect(text).toContain(
      '  gate      after wave 1: metric sum(alarms), at most 0\n            not asked yet\n' +
        `  guard     webhook ${uuid}\n            not asked yet: it is, before nodes are begun and while they work\n`,
    );
  });

  test.each([
    ['a failure', answered, 'gate_failed', 'fail at 2026-11-22T10:01:00Z: The value is 3.\n            resume has it asked again, advance passes it'],
    ['a failure of a guard beside it', answered, 'gate_inconclusive', 'fail at 2026-11-22T10:01:00Z: The value is 3.\n  guard'],
    ['time that it wants', { ...answered, answer: 'later', note: '', until: '2026-11-22T10:02:00Z' }, null, 'later at 2026-11-22T10:01:00Z\n            asked again at 2026-11-22T10:02:00Z'],
    ['what was passed', { ...answered, passed: { by: 'ana', reason: 'a false\u001b[31m alarm', at: '2026-11-22T10:03:00Z' } }, 'gate_failed', 'passed by ana at 2026-11-22T10:03:00Z: a false [31m alarm\n'],
  ])('and %s', async (_, answer, code, shown) => {
    expect(await shownGates([answer], code)).toContain(`            ${shown}`);
  }); // biome-ignore format: one row each
});

describe('a plan', () => {
  const file = 'runbook: CUSTOM_BIOS\nselect:\n  query:\n    resource_class: gold\nbudget:\n  total: 1%\n  wave: 2\n';

  test('is a file of YAML, with options laid over it', async () => {
    const line = ['plan', 'bios.yaml', '--limit', '40', '--budget', '2', '--name', 'bios'];
    expect((await does(line, { files: { 'bios.yaml': file } })).status).toBe(0);
    expect(api.asked).toMatchObject([
      {
        method: 'POST',
        path: '/temper/v1/rollouts',
        body: {
          name: 'bios',
          runbook: 'CUSTOM_BIOS',
          select: { query: { resource_class: 'gold' }, limit: 40 },
          budget: { total: 2, wave: 2 },
        },
      },
    ]);
  });

  test('is made of options alone, and ranges are each of their values', async () => {
    await does(['plan', '--runbook', 'R', '--query', 'resource_class=gold', 'properties.rack=r8..r11,x']);
    expect(api.asked[0]!.body).toEqual({
      runbook: 'R',
      select: { query: { resource_class: ['gold'], 'properties.rack': ['r8', 'r9', 'r10', 'r11', 'x'] } },
    });
  });

  test('says what would happen, and why not', async () => {
    const { out } = await does(['show', uuid]);
    expect(out).toBe(`412 nodes selected: 371 would run, 41 refused, 19 need consent. Nothing was touched.
  refused     38 trait             CUSTOM_APPROVED_BIOS is not on the node
               3 frozen            fan swap
  power     371 nodes restarted; 0 nodes are erased
  waves     1 + 19 + 93 + 258; worst case 4 harmed; about 3:10:00
  rollout   ${uuid}  planned  service by CUSTOM_BIOS, revision 3
  plan      ${plan_hash}
`);
  });

  test('says after the start no longer that nothing was touched, and why the rollout stands', async () => {
    const summary = { ...rollout.summary, need_consent: 1 };
    const stands = { state: 'paused', code: 'budget_spent', reason: '1 failed', started_at: '2026-11-22T10:00:00Z' };
    answers = () => ({ json: { ...rollout, ...stands, summary } });
    const { out } = await does(['show', uuid]);
    expect(out).toContain('1 needs consent.\n');
    expect(out).toContain('paused: budget_spent, 1 failed');
  });

  test.each([
    ['a file that is not there', ['plan', 'x.yaml'], {}],
    ['no YAML', ['plan', 'x.yaml'], { 'x.yaml': 'a: [1' }],
    ['a list', ['plan', 'x.yaml'], { 'x.yaml': '- a' }],
    ['one key twice', ['plan', 'x.yaml'], { 'x.yaml': 'a: 1\na: 2' }],
    ['an alias, of which there could be too many', ['plan', 'x.yaml'], { 'x.yaml': 'a: &a [1]\nb: *a' }],
    ['a query without a value', ['plan', '--query', 'gold'], {}],
  ])('of %s is refused before anything is sent', async (_, line, files) => {
    expect((await does(line, { files })).status).toBe(2);
    expect(api.asked).toEqual([]);
  });
});

describe('the fault of a file is named with its line', () => {
  const written =
    'runbook: R\nselect:\n  nodes: [n1]\nwaves:\n  - {size: 1, soack: 30m}\n  - rest: true\nbudget:\n  total: 1\n';
  const refused = async (reason: string, line: readonly string[] = [], text = written) => {
    answers = () => ({ status: 400, json: { error_message: JSON.stringify({ faultstring: reason }) } });
    return does(['plan', 'x.yaml', ...line], { files: { 'x.yaml': text } });
  };

  test.each([
    ['a tab', 'runbook: R\nselect:\n\tnodes: [n1]\n', 'x.yaml, line 3: Tabs are not allowed as indentation: indent with spaces.'],
    ['a bracket that is not closed', 'runbook: R\nwaves: [{size: 1}\nbudget: 1\n', 'x.yaml, line 3: Flow sequence in block collection must be sufficiently indented and end with a ].'],
    ['a key twice', 'runbook: R\nrunbook: S\n', 'x.yaml, line 2: Map keys must be unique: a key stands there once.'],
    ['an alias', 'a: &a [1]\nb: *a\n', 'x.yaml: Alias resolution is disabled: write the value out where it is used; aliases are not read.'],
    ['no document', 'plain words', 'x.yaml does not hold the keys and values of a plan.'],
  ])('%s, before anything is sent', async (_, text, says) => {
    const { status, err } = await does(['plan', 'x.yaml'], { files: { 'x.yaml': text } });
    expect([status, err]).toEqual([2, expect.stringContaining(`${says}\n`)]);
    expect(api.asked).toEqual([]);
  }); // biome-ignore format: one row each

  test.each([
    ['waves.0: has no field soack (did you mean soak?)', 5],
    ['waves.1.rest: must be true', 6],
    ['select.nodes.0: must be a string, not a number', 3],
    ['budget.total: must be a whole number from 1 on', 8],
    ['budget.wave: must be a whole number from 1 on', 7],
    ['Unexpected arguments: waves (did you mean wave?).', 4],
  ])('as the API refuses it: %s', async (reason, line) => {
    const { status, err } = await refused(reason);
    expect([status, err]).toEqual([1, expect.stringContaining(`x.yaml, line ${line}: ${reason} (HTTP 400)`)]);
  });

  test('and not where it is about what no file says', async () => {
    const { err } = await refused('max_in_flight: must be a whole number from 1 on');
    expect(err).not.toContain('x.yaml');
    answers = () => ({ status: 409, json: { error_message: JSON.stringify({ faultstring: 'waves: none' }) } });
    expect((await does(['plan', 'x.yaml'], { files: { 'x.yaml': written } })).err).not.toContain('line');
  });
});

describe('an act', () => {
  test.each([
    ['start', ['--plan', '7f3c'], { reason: 'r', plan_hash }],
    ['submit', [], { reason: 'r', plan_hash }],
    ['advance', ['--wave', '2'], { reason: 'r', expected_wave: 2 }],
    ['abort', ['--running', 'abort'], { reason: 'r', running: 'abort' }],
    ['pause', [], { reason: 'r' }],
  ])('%s carries its reason and what its caller has seen', async (act, options, body) => {
    expect((await does([act, uuid, '--reason', 'r', ...options])).status).toBe(0);
    expect(api.asked.at(-1)).toMatchObject({ method: 'POST', path: `/temper/v1/rollouts/${uuid}/${act}`, body });
  });

  test('on a plan that is another by now is not sent', async () => {
    const { status, err } = await does(['start', uuid, '--reason', 'r', '--plan', 'beef']);
    expect([status, err]).toEqual([1, expect.stringContaining('read it again')]);
    expect(api.asked.map(({ method }) => method)).toEqual(['GET']);
  });

  test('finds its rollout by name, or by the beginning of its UUID', async () => {
    await does(['pause', 'bios', '--reason', 'r']);
    await does(['pause', '0f8f', '--reason', 'r']);
    expect(api.asked.filter(({ method }) => method === 'POST').map(({ path }) => path)).toEqual(
      Array(2).fill(`/temper/v1/rollouts/${uuid}/pause`),
    );
    expect((await does(['pause', 'other', '--reason', 'r'])).status).toBe(1);
  });

  test('is no rollback without a new plan', async () => {
    const { out } = await does(['rollback', uuid, '--reason', 'r', '--runbook', 'BACK', '--targets', 'failed']);
    expect(api.asked.at(-1)).toMatchObject({ body: { reason: 'r', runbook: 'BACK', targets: 'failed' } });
    expect(out).toContain('Nothing was touched.');
    await does(['rollback', uuid, '--reason', 'r', '--power', 'power off']);
    expect(api.asked.at(-1)!.body).toEqual({
      ...{ reason: 'r', targets: 'done' },
      ...{ verb: 'power', power: { target: 'power off' } },
    });
  });
});

describe('a vote', () => {
  const vote = {
    user_id: 'u',
    user_name: 'ann',
    vote: 'approve',
    reason: 'read\u001b[2J it',
    expires_at: '2026-11-23T10:00:00Z',
  };
  const plain = (path: string): Answer | undefined =>
    /approve|reject/.test(path) ? { json: { plan_hash, wanted: 2, approved: 1, votes: [vote] } } : undefined;

  test.each(['approve', 'reject'])('%s carries the plan that was read, and says who has voted', async (act) => {
    answers = plain;
    const { status, out } = await does([act, 'bios', '--plan', '7f3c', '--reason', 'r']);
    expect([status, out]).toEqual([
      0,
      `Plan 7f3c00000000 has 1 of 2 approvals.\n  ann: approve, until 2026-11-23T10:00:00Z: read [2J it\n`,
    ]);
    expect(api.asked.at(-1)).toMatchObject({
      method: 'POST',
      path: `/temper/v1/rollouts/${uuid}/${act}`,
      body: { plan_hash, reason: 'r' },
    });
  });

  test.each([
    ['without a plan', [], 2],
    ['on a plan that is another by now', ['--plan', 'beef'], 1],
  ])('%s is not sent', async (_, options, status) => {
    expect((await does(['approve', uuid, '--reason', 'r', ...options])).status).toBe(status);
    expect(api.asked.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});

describe('a node of a rollout', () => {
  const at = '2026-11-30T18:00:00Z';
  const target = { node_uuid: 'n', node_name: 'bmc-9', state: 'pending', not_before: null };
  const answer = (over: object = {}) => {
    answers = (path) => (path.includes('/targets/') ? { json: { ...target, ...over } } : undefined);
  };

  test.each([
    ['consent', ['--now'], { now: true }, 'as soon as the rollout has room', {}],
    ['consent', ['--at', at, '--reason', 'r'], { at, reason: 'r' }, `from ${at} on`, { not_before: at }],
    ['consent', ['--in', uuid], { in: uuid }, 'while the window is open', {}],
    ['refuse', ['--reason', 'r'], { reason: 'r' }, 'the rollout passes over it', {}],
    ['skip', ['--reason', 'r'], { reason: 'r' }, 'is passed over', {}],
    ['retry', ['--reason', 'r'], { reason: 'r' }, 'counts as failed until then', {}],
  ])('%s %j is sent, and its answer said', async (act, options, body, says, over) => {
    answer(over);
    const { status, out } = await does([act, 'bios', 'a/b', ...options]);
    expect([status, out]).toEqual([0, expect.stringContaining(`Node bmc-9 `)]);
    expect(out).toContain(says);
    expect(api.asked.at(-1)).toEqual(
      expect.objectContaining({ method: 'POST', path: `/temper/v1/rollouts/${uuid}/targets/a%2Fb/${act}`, body }),
    );
  });

  test.each([
    ['consent that says no time', ['consent', uuid, 'n']],
    ['consent that says two', ['consent', uuid, 'n', '--now', '--at', at]],
    ['a refusal without a reason', ['refuse', uuid, 'n']],
  ])('%s is refused before anything is sent', async (_, line) => {
    expect((await does(line)).status).toBe(2);
    expect(api.asked).toEqual([]);
  });
});

describe('watching', () => {
  const running = {
    ...rollout,
    state: 'running',
    wave: 2,
    states: { done: 8, admitted: 2, failed: 1, asked: 1 },
    waves: [
      { wave: 1, size: 1, opened_at: null, closed_at: null, states: { done: 1 } },
      { wave: 2, size: 19, opened_at: null, closed_at: null, states: { done: 7, failed: 1, admitted: 2, asked: 1 } },
    ],
    counters: [{ scope: 'total', value: '', budget: 4, most: null, in_flight: 2, failed: 1, parked: 0, done: 8 }],
  };
  const target = { node_uuid: 'n', wave: 2, code: null, reason: null, run: null, not_before: null };
  const targets = {
    admitted: [{ ...target, node_name: 'bmc-4', state: 'admitted' }],
    asked: [{ ...target, node_name: 'bmc-9', state: 'asked', not_before: '2026-11-23T10:00:00Z' }],
    failed: [{ ...target, node_name: 'bmc-7', state: 'failed', reason: 'it broke\u001b[2J' }],
  };

  /** Running at first, then paused, then over as it is said. */
  const story = (end: string) => {
    let looks = 0;
    stream = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 1\nevent: rollout.running\ndata: {}\n\n');
    };
    answers = (path) => {
      const [, state] = /targets\?state=(\w+)/.exec(path) ?? [];
      if (state !== undefined) return { json: { targets: targets[state as keyof typeof targets] ?? [] } };
      looks++;
      return { json: looks === 1 ? running : { ...running, state: end } };
    };
  };

  test('prints a line when something has changed, and its status says how it ended', async () => {
    story('succeeded');
    const { status, out } = await does(['watch', uuid]);
    expect(status).toBe(0);
    expect(out).toBe(
      'running    wave=2 done=8 admitted=2 failed=1 asked=1\nsucceeded  wave=2 done=8 admitted=2 failed=1 asked=1\n',
    );
    story('aborted');
    expect((await does(['watch', uuid])).status).toBe(1);
  });

  test('ends with a pause where that is asked for, as not succeeded', async () => {
    story('paused');
    const { status, out } = await does(['watch', uuid, '--until-paused']);
    expect({ status, lines: out.split('\n').map((line) => line.split(' ')[0]) }).toEqual({
      status: 1,
      lines: ['running', 'paused', ''],
    });
    story('succeeded');
    expect((await does(['watch', uuid, '--until-paused'])).status).toBe(0);
  });

  test.each(['planned', 'awaiting_approval'])(
    'and ends there where it is %s, which a person has to change',
    async (state) => {
      story(state);
      expect((await does(['watch', uuid, '--until-paused'])).status).toBe(1);
    },
  );

  test('reads again when an event comes, and goes on with the stream where it was cut off', async () => {
    let end = 'running';
    const last: (string | undefined)[] = [];
    answers = (path) => ({ json: path.includes('/targets') ? { targets: [] } : { ...running, state: end } });
    stream = (from, response) => {
      last.push(from);
      // Nothing but the second connection's event ends it.
      if (last.length === 2) end = 'succeeded';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`id: ${last.length}\nevent: rollout.running\ndata: {}\n\n`, () => {
        if (last.length === 1) response.destroy();
      });
    };
    const { status, out } = await does(['watch', uuid]);
    expect(status).toBe(0);
    expect(last).toEqual([undefined, '1']);
    expect(out).toMatch(/^succeeded .*\n$/m);
  });

  test('prints one document a line as JSON', async () => {
    story('succeeded');
    const { out } = await temper(['--json', 'rollouts', 'watch', uuid], world());
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).state),
    ).toEqual(['running', 'succeeded']);
  });

  test('paints waves, budget, what is in flight and what waits on a terminal, over what it painted before', async () => {
    story('stopped');
    let painted = '';
    const terminal = Object.assign(
      new Writable({
        write: (chunk, _, done) => {
          painted += chunk;
          done();
        },
      }),
      { columns: 100 },
    );
    await does(['watch', uuid], { terminal });
    const [first, second] = painted.split('\u001b[7F\u001b[0J');
    expect(first).toBe(`rollout  ${uuid}  running
wave 1   [####################] 1/1  1 done
wave 2   [########............] 8/19  7 done, 1 failed, 2 admitted, 1 asked
budget   1 failed + 0 parked + 2 in flight of 4
flight   bmc-4 admitted
waits    bmc-9 for its tenant until 2026-11-23T10:00:00Z
failed   bmc-7: it broke [2J
`);
    expect(second).toContain(`${uuid}  stopped`);
  });
});

test('targets are listed by state, with why', async () => {
  answers = () => ({
    json: {
      targets: [
        {
          node_uuid: 'n',
          node_name: null,
          wave: 1,
          state: 'skipped',
          code: 'frozen',
          reason: 'fan',
          run: null,
          not_before: null,
        },
      ],
    },
  });
  const { out } = await does(['targets', uuid, '--state', 'skipped', '--limit', '5']);
  expect(api.asked.at(-1)!.path).toBe(`/temper/v1/rollouts/${uuid}/targets?state=skipped&limit=5`);
  expect(out).toMatch(/n\s+1\s+skipped\s+frozen\s+fan/);
});

describe('an act says what it has come to', () => {
  const acted = async (line: readonly string[], json: object) => {
    answers = (path) => (path.endsWith(`/${line[0]}`) ? { json } : undefined);
    return (await does([line[0]!, uuid, '--reason', 'r', ...line.slice(1)])).out;
  };

  test('a start now, and at a time', async () => {
    expect(await acted(['start'], { ...rollout, state: 'running' })).toBe('Rollout bios is running; wave 1 is open.\n');
    const start_at = '2026-11-30T18:00:00Z';
    expect(await acted(['start', '--at', start_at], { ...rollout, state: 'scheduled', start_at })).toBe(
      `Rollout bios begins automatically at ${start_at}, by your rights.\n`,
    );
    expect(api.asked.at(-1)).toMatchObject({ body: { reason: 'r', plan_hash, start_at } });
  });

  test('a pause, an adoption', async () => {
    expect(await acted(['pause'], { ...rollout, state: 'paused', reason: 'r' })).toBe('Rollout bios is paused: r.\n');
    expect(await acted(['adopt'], { ...rollout, state: 'running', wave: 2 })).toBe(
      'Rollout bios goes on by your rights, and is running; wave 2 is open.\n',
    );
  });

  test('an abort names what still runs', async () => {
    const running = [{ node_uuid: 'u', node_name: 'bmc-4', run: null, will: 'goes on to its end' }];
    const aborted = { ...rollout, state: 'aborted', reason: 'r' };
    expect(await acted(['abort'], { rollout: aborted, running })).toBe(
      'Rollout bios is aborted: r.\nWhat still runs:\n  bmc-4 goes on to its end\n',
    );
    expect(await acted(['abort'], { rollout: aborted, running: [] })).toContain('Nothing of it runs any more.');
  });
});

test('a plan by power, and its time', async () => {
  answers = () => ({ json: { ...rollout, summary: { ...rollout.summary, p95_ms: 18_000_000 } } });
  const { out } = await does(['plan', '--node', 'n', '--power', 'soft rebooting']);
  expect(api.asked.at(-1)).toMatchObject({ body: { verb: 'power', power: { target: 'soft rebooting' } } });
  expect(out).toMatch(/about .*, p95 /);
});
