/** `temper runs`: what is shown, what is asked of the API, and that no user aborts without knowing what it means. */
import { abortWill, runSheet } from '../../src/cli/runs/run-texts';
import { sinceOf } from '../../src/cli/runs/runs';
import type { ListedRun } from '../../src/wire/runs';
import { temper } from './support/command';
import { type Double, fault, type Handler, startDouble } from './support/double';
import { listedRun, runStep, shownRun } from './support/runs';

const uuid = '11111111-2222-4333-8444-555555555555';
let api: Double;
let answer: Handler;
const known: Handler = ({ method }) => ({ json: method === 'GET' ? shownRun() : { will: 'It will.' } });
beforeAll(async () => {
  api = await startDouble((asked, response) => answer(asked, response));
});
beforeEach(() => {
  answer = known;
  api.asked.length = 0;
});
afterAll(() => api.close());

const does = (line: string | readonly string[], world: object = {}) =>
  temper(line, { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' }, ...world });
const posted = () => api.asked.filter(({ method }) => method === 'POST').map(({ path, body }) => ({ path, body }));

describe('runs are shown', () => {
  test('as a list, by what they do and what they wait for', async () => {
    answer = () => ({ json: { runs: [listedRun({ state: 'waiting', waiting_for: 'the ramdisk to call back' })] } });
    const { out } = await does('runs list');
    expect(out).toBe(
      'RUN                                   NODE  VERB   STATE    STEP  BEGAN                     WAITS FOR, OR LAST ERROR\n' +
        `${uuid}  n-1   clean  waiting  2/2   2026-11-01T00:00:01.000Z  the ramdisk to call back\n`,
    );
  });

  test('of all nodes by their state, or of one node', async () => {
    answer = () => ({ json: { runs: [listedRun(), listedRun({ state: 'failed' })] } });
    await does('runs list --state parked --limit 5');
    const { out } = await does('--json runs list n/1 --state failed');
    expect(api.asked.map(({ path }) => path)).toEqual([
      '/temper/v1/runs?state=parked&limit=5',
      '/temper/v1/runs?node=n%2F1&state=failed',
    ]);
    expect(JSON.parse(out).runs).toHaveLength(2);
  });

  test('that are tried again are said to be, with their last error', async () => {
    answer = () => ({ json: { runs: [listedRun({ retrying: true, last_error: 'The BMC did not answer.' })] } });
    expect((await does('runs list')).out).toMatch(/ retrying +2\/2 .* The BMC did not answer\.$/m);
  });

  test('whole where a script reads, short on a terminal', async () => {
    const last_error = 'why '.repeat(60).trim();
    answer = () => ({ json: { runs: [listedRun({ last_error })] } });
    expect((await does('runs list')).out).toContain(last_error);
    const { out } = await does('runs list', { terminal: { columns: 100 } });
    const [, line] = out.split('\n');
    expect(line).toHaveLength(100);
    expect(line).toMatch(/^11111111 {2}n-1 .*…$/);
  });

  test('by verb, runbook and time, page by page', async () => {
    answer = () => ({ json: { runs: [] } });
    await does(`runs list --state ended --verb clean --runbook CUSTOM_X --since 2026-11-01T00:00:00Z --marker ${uuid}`);
    expect(api.asked[0]!.path).toBe(
      `/temper/v1/runs?state=ended&verb=clean&runbook=CUSTOM_X&marker=${uuid}&since=2026-11-01T00%3A00%3A00.000Z`,
    );
    expect((await does('runs list --since yesterday')).status).toBe(2);
  });

  test.each([
    ['2h', '2026-10-31T22:00:00.000Z'],
    ['3d', '2026-10-29T00:00:00.000Z'],
    ['2026-10-01T02:00:00+02:00', '2026-10-01T00:00:00.000Z'],
  ])('since %s is %s', (text, time) => expect(sinceOf(text, Date.parse('2026-11-01T00:00:00Z'))).toBe(time));

  test('one by one, with steps and attempts', async () => {
    const { out } = await does(`runs show ${uuid}`);
    expect(out).toMatch(/^node +n-1 \(n-uuid\)$/m);
    expect(out).toMatch(/^asked by +ann$/m);
    expect(out).toMatch(/^1 +bios\.apply_configuration +running +stage_bios +2$/m);
  });

  test('without what would move the cursor of a terminal', async () => {
    answer = () => ({ json: shownRun({ last_error: 'BMC said \u001b[2J\u0007 and\nmore' }) });
    const { out } = await does(`runs show ${uuid}`);
    expect(out).toContain('BMC said  [2J  and more');
    expect([...out].filter((character) => character < ' ' && character !== '\n')).toEqual([]);
  });

  test('as JSON exactly as the API has them', async () => {
    expect(JSON.parse((await does(`runs show ${uuid} --json`)).out)).toEqual(shownRun());
  });
});

describe('a run is named', () => {
  const [byId, byNode] = [listedRun(), listedRun({ uuid: '22222222-2222-4333-8444-555555555555', node_name: '1111' })];
  const found = (runs: { id?: ListedRun[]; node?: ListedRun[] | 404 }): Handler => {
    return ({ path }) => {
      if (!path.startsWith('/temper/v1/runs?')) return { json: shownRun() };
      if (path.includes('run=')) return { json: { runs: runs.id ?? [] } };
      return runs.node === 404 ? fault(404, 'Node could not be found.') : { json: { runs: runs.node ?? [] } };
    };
  };
  const shown = async (ident: string) => {
    const { status, err } = await does(`runs show ${ident}`);
    return [status, status === 0 ? api.asked.at(-1)!.path : err];
  };

  test('by the beginning of its UUID', async () => {
    answer = found({ id: [byId], node: 404 });
    expect(await shown('1111')).toEqual([0, `/temper/v1/runs/${uuid}`]);
  });

  test('by its node, whose newest run is meant', async () => {
    answer = found({ node: [byNode] });
    expect(await shown('rack-7-node')).toEqual([0, `/temper/v1/runs/${byNode.uuid}`]);
    expect(api.asked.map(({ path }) => path)).toEqual([
      '/temper/v1/runs?state=any&node=rack-7-node&limit=1',
      `/temper/v1/runs/${byNode.uuid}`,
    ]);
  });

  test.each([
    ['of two runs', { id: [byId, byNode] }],
    ['of a run and a node', { id: [byId], node: [byNode] }],
  ])('not by what can be the name %s', async (_, runs) => {
    answer = found(runs);
    const { status, err } = await does(['runs', 'fail', '1111', '--reason', 'x']);
    expect(status).toBe(2);
    expect(err).toContain(`${uuid} (clean of n-1) or ${byNode.uuid} (clean of 1111)`);
    expect(posted()).toEqual([]);
  });

  test('not by what names nothing', async () => {
    answer = found({ node: 404 });
    expect(await shown('1111')).toEqual([1, expect.stringContaining('There is no run whose UUID begins with 1111')]);
  });
});

describe('an act on a run', () => {
  test.each(['pause', 'resume', 'retry', 'skip', 'fail'])(
    '%s is asked for with its reason and the step that the run was seen in',
    async (act) => {
      const { status, out } = await does(['runs', act, uuid, '--reason', 'new fan']);
      expect({ status, out }).toEqual({ status: 0, out: 'It will.\n' });
      expect(posted()).toEqual([{ path: `/temper/v1/runs/${uuid}/${act}`, body: { reason: 'new fan', step: 1 } }]);
    },
  );

  test('retry takes other arguments', async () => {
    await does(['runs', 'retry', uuid, '--reason', 'x', '--args', '{"settings": []}']);
    expect(posted()[0]!.body).toEqual({ reason: 'x', step: 1, args: { settings: [] } });
  });

  test.each(['no json', '[]', 'null', '"x"'])('retry refuses %s as arguments, and asks for nothing', async (text) => {
    const { status, err } = await does(['runs', 'retry', uuid, '--reason', 'x', '--args', text]);
    expect(status).toBe(2);
    expect(err).toContain('JSON object');
    expect(api.asked).toEqual([]);
  });

  test('is reported as refused where the run has moved on', async () => {
    answer = (asked) =>
      asked.method === 'GET' ? known(asked, undefined as never) : fault(409, 'The run has moved on.');
    expect(await does(['runs', 'skip', uuid, '--reason', 'x'])).toMatchObject({
      status: 1,
      err: 'temper: The run has moved on. (HTTP 409)\n',
    });
  });

  test('rerun names the step to begin with', async () => {
    answer = () => ({ status: 202, json: { run: 'new-run' } });
    const { out } = await does(['runs', 'rerun', uuid, '--from', '2', '--reason', 'x']);
    expect(out).toBe('Run new-run was accepted.\n');
    expect(posted()).toEqual([{ path: `/temper/v1/runs/${uuid}/rerun`, body: { reason: 'x', from: 2 } }]);
    expect((await does(['runs', 'rerun', uuid, '--from', 'two', '--reason', 'x'])).status).toBe(2);
  });
});

describe('an abort', () => {
  const line = ['runs', 'abort', uuid, '--reason', 'x'];

  test('says first what it will do, and does it when the person agrees', async () => {
    const asked: string[] = [];
    const confirm = async (question: string) => asked.push(question) > 0;
    expect((await does(line, { confirm })).status).toBe(0);
    expect(asked[0]).toContain('Otherwise it finishes first, within TEMPER_ABORT_TIMEOUT_MS.');
    expect(posted()).toHaveLength(1);
  });

  test('is left alone when the person does not', async () => {
    expect(await does(line, { confirm: async () => false })).toMatchObject({
      status: 1,
      err: 'temper: Left as it was.\n',
    });
    expect(posted()).toEqual([]);
  });

  test('needs --yes where no user can be asked', async () => {
    expect(await does(line)).toMatchObject({ status: 2, err: expect.stringContaining('give --yes') });
    expect(posted()).toEqual([]);
    expect((await does([...line, '--yes'])).status).toBe(0);
    expect(posted()).toHaveLength(1);
  });

  test('that waits is shown with who asked and when, until the run has ended', () => {
    const abort = { by: 'ada', at: '2026-11-22T00:00:00.000Z' };
    expect(runSheet(shownRun({ abort, finished_at: null }))).toContain(
      'abort asked by ada at 2026-11-22T00:00:00.000Z',
    );
    expect(runSheet(shownRun({ abort, finished_at: '2026-11-22T00:01:00.000Z' }))).not.toContain('abort asked');
  });

  test.each([
    ['waiting', false, 'ends now'],
    ['parked', false, 'ends now'],
    ['paused', false, 'ends now'],
    ['running', true, 'is interrupted and the run ends'],
    ['running', false, 'if its command was not sent yet'],
    ['running', undefined, 'if that is safe'],
  ])('of a run that is %s in a step that is abortable: %s', (state, abortable, says) => {
    expect(abortWill(shownRun({ state, cursor: 0, steps: [runStep(0, { abortable })] }))).toContain(says);
  });
});
