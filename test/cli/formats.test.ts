/** Formats and columns of lists and records, and texts of others that must not steer a terminal in any of them. */
import { parse } from 'yaml';
import { temper } from './support/command';
import { type Double, fault, type Handler, startDouble } from './support/double';
import { listedRun, shownRun } from './support/runs';

let api: Double;
let answer: Handler;
beforeAll(async () => {
  api = await startDouble((asked, response) => answer(asked, response));
});
beforeEach(() => {
  api.asked.length = 0;
});
afterAll(() => api.close());

const does = (line: string | readonly string[], world: object = {}) =>
  temper(line, { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' }, ...world });
const lists = (...runs: ReturnType<typeof listedRun>[]) => {
  answer = () => ({ json: { runs, next: 'http://api/temper/v1/runs?marker=m' } });
};
const shows = (run = shownRun()) => {
  answer = () => ({ json: run });
};

describe('a list', () => {
  const two = [
    listedRun({ node_name: 'a, "b"', last_error: 'no\nanswer' }),
    listedRun({ node_name: '東京', cursor: 0 }),
  ];

  test('as CSV has the columns of the table, with quotes where they are needed', async () => {
    lists(...two);
    const { out, err } = await does('runs list -f csv');
    const uuid = '11111111-2222-4333-8444-555555555555';
    expect(out).toBe(
      'RUN,NODE,VERB,STATE,STEP,BEGAN,"WAITS FOR, OR LAST ERROR"\n' +
        `${uuid},"a, ""b""",clean,running,2/2,2026-11-01T00:00:01.000Z,"no answer"\n` +
        `${uuid},東京,clean,running,1/2,2026-11-01T00:00:01.000Z,\n`,
    );
    expect(err).toContain('--marker m');
  });

  test('as values has a line for each row, with blanks between, and columns in the order of the options', async () => {
    lists(...two);
    expect((await does('runs list -f value -c STEP -c node_name')).out).toBe('2/2 a, "b"\n1/2 東京\n');
  });

  test('as YAML and as JSON is the answer of the API, or its columns', async () => {
    lists(...two);
    const whole = { runs: two, next: 'http://api/temper/v1/runs?marker=m' };
    expect(parse((await does('runs list -f yaml')).out)).toEqual(whole);
    expect(JSON.parse((await does('runs list -f json')).out)).toEqual(whole);
    expect((await does('runs list --json')).out).toBe((await does('runs list -f json')).out);
    const columns = [
      { NODE: 'a, "b"', cursor: 1 },
      { NODE: '東京', cursor: 0 },
    ];
    expect(JSON.parse((await does('runs list -f json -c NODE -c cursor')).out)).toEqual(columns);
    expect(parse((await does('runs list --format yaml --column NODE --column cursor')).out)).toEqual(columns);
  });

  test('as a table shows the columns that were asked for, and as many as were', async () => {
    lists(...two);
    expect((await does('runs list -c NODE -c verb')).out).toBe('NODE    verb\na, "b"  clean\n東京    clean\n');
  });

  test('without rows is empty in each format, whatever columns were asked for', async () => {
    lists();
    const said = async (options: string) => (await does(`runs list ${options}`)).out;
    expect(await said('')).toBe('No runs.\n');
    expect(await said('-f value -c nonsense')).toBe('');
    expect(await said('-f csv -c NODE')).toBe('NODE\n');
    expect(await said('-f json -c NODE')).toBe('[]\n');
    expect(parse(await said('-f yaml -c NODE'))).toEqual([]);
  });
});

describe('a record', () => {
  test('has its fields, in each format', async () => {
    shows();
    const said = async (options: string) =>
      (await does(`runs show 11111111-2222-4333-8444-555555555555 ${options}`)).out;
    expect(await said('-f value -c state -c cursor -c finished_at')).toBe('running\n1\n\n');
    expect(await said('-f csv -c state -c requester')).toBe(
      'state,requester\nrunning,"{""user_id"":null,""user_name"":""ann""}"\n',
    );
    expect(await said('-c state -c verb')).toBe('state  running\nverb   clean\n');
    expect(JSON.parse(await said('-f json -c state'))).toEqual({ state: 'running' });
    expect(parse(await said('-f yaml'))).toEqual(shownRun());
    expect(await said('-f table')).toMatch(/^run .*\nnode .*\n[\s\S]*\n# +STEP /);
  });
});

test.each([
  ['runs list -c nonsense', 'There is no column nonsense. Give one of: RUN; NODE; '],
  ['runs list -c node', 'There is no column node. Give one of: '],
  ['runs list -c toString', 'There is no column toString.'],
  ['runs list -c __proto__', 'There is no column __proto__.'],
  ['runs list -f xml', "argument 'xml' is invalid. Allowed choices are table, json, yaml, csv, value."],
  ['runs list --json -f csv', 'Give --json or --format, not both.'],
])('`%s` is wrong usage', async (line, says) => {
  lists(listedRun());
  const { status, out, err } = await does(line);
  expect({ status, out }).toEqual({ status: 2, out: '' });
  expect(err).toContain(says);
});

test('a record has no column of the language it is read in', async () => {
  shows();
  const { status, err } = await does('runs show 11111111-2222-4333-8444-555555555555 -c constructor');
  expect(status).toBe(2);
  expect(err).toContain('There is no column constructor. Give one of: uuid; ');
});

describe('texts of others', () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
  const clipboard = '\u001b]52;c;cm0gLXJmIH4=\u0007';
  const evil = `rack${clipboard}\u009b31m\u202e1-edon\u2066\u007f`;

  const formats = ['table', 'json', 'yaml', 'csv', 'value'];
  test.each(formats)('steer no terminal by a list as %s', async (format) => {
    lists(listedRun({ node_name: evil, last_error: evil, verb: evil }));
    const { status, out } = await does(`runs list -f ${format}`);
    expect(status).toBe(0);
    expect(out).toContain('rack');
    expect(out).not.toMatch(steering);
  });

  test.each(formats)('steer no terminal by a record as %s', async (format) => {
    answer = () => ({ json: { ...shownRun({ node_name: evil, last_error: evil }), [evil]: evil } });
    const { out } = await does(`runs show 11111111-2222-4333-8444-555555555555 -f ${format}`);
    expect(out).toContain('rack');
    expect(out).not.toMatch(steering);
  });

  test.each(['=1+1', '+1', '-1+1', '@SUM(1)', ' \t=1'])('are no formula in CSV: %j', async (text) => {
    lists(listedRun({ node_name: text }));
    expect((await does('runs list -f csv -c node_name')).out).toBe(`node_name\n'${text.trim()}\n`);
  });

  test.each(['json', 'yaml'])('mean the same as %s', async (format) => {
    lists(listedRun({ node_name: evil }));
    const { out } = await does(`runs list -f ${format} -c node_name`);
    expect(format === 'json' ? JSON.parse(out) : parse(out)).toEqual([{ node_name: evil }]);
  });

  test('steer no terminal by an error of the API, or by one of a proxy', async () => {
    answer = () => fault(409, `Node ${evil} is locked`);
    const { status, err } = await does('runs list');
    expect(status).toBe(1);
    expect(err).toMatch(/^temper: Node rack.*1-edon +is locked \(HTTP 409\)\n$/);
    expect(err).not.toMatch(steering);
  });

  test('steer no terminal by the question before an act, or by an argument that comes back', async () => {
    const questions: string[] = [];
    answer = ({ method }) => ({ json: method === 'GET' ? shownRun({ verb: evil, node_name: evil }) : {} });
    const confirm = async (question: string) => {
      questions.push(question);
      return false;
    };
    await does(['runs', 'abort', '11111111-2222-4333-8444-555555555555', '--reason', 'x'], { confirm });
    expect(questions.join('')).toContain('rack');
    expect(questions.join('')).not.toMatch(steering);
    for (const line of [
      ['rollouts', 'plan', evil],
      ['runs', evil],
      ['freezes', 'list', `--${evil}`],
    ])
      expect((await does(line)).err).not.toMatch(steering);
  });

  test('steer no terminal by a rollout’s name or by whom a policy refuses', async () => {
    answer = () => ({ json: { rollout: { uuid: 'r', name: evil, state: 'aborted', reason: evil }, running: [] } });
    const { out, err } = await does(['rollouts', 'abort', '11111111-2222-4333-8444-555555555555', '--reason', 'x']);
    expect(out + err).not.toMatch(steering);
    answer = () => ({ json: { owner: evil } });
    const said = await does(['policy', 'explain', 'baremetal:node:get', '--as', evil, '--node', 'n']);
    expect(said.out + said.err).not.toMatch(steering);
  });
});

test.each([
  ...['runs list', 'runs show', 'rollouts list', 'rollouts show', 'rollouts targets', 'freezes list', 'windows list'],
  ...[
    'runbooks revisions',
    'runbooks diff',
    'runbooks parameters',
    'disruption-budgets list',
    'disruption-budgets show',
  ],
  ...['discovered list', 'discovered show', 'image list', 'image show', 'ramdisk list', 'ramdisk show'],
  ...['policy history', 'secrets status'],
])('`temper %s` has formats and columns', async (line) => {
  const { out } = await temper(`${line} --help`);
  expect(out).toContain('-f, --format <format>');
  expect(out).toContain('-c, --column <column>');
});

const uuid = '11111111-2222-4333-8444-555555555555';
test.each([
  ...['runs list', 'rollouts list', `rollouts targets ${uuid}`, 'freezes list', 'windows list'],
  ...['disruption-budgets list', 'discovered list'],
])('`temper %s` does not send the options of its output to the API', async (line) => {
  answer = () => ({
    json: {
      runs: [],
      rollouts: [],
      targets: [],
      freezes: [],
      windows: [],
      disruption_budgets: [],
      discovered_machines: [],
    },
  });
  expect(await does(`${line} -f csv -c UUID`)).toMatchObject({ status: 0, err: '' });
  expect(api.asked.map(({ path }) => path).filter((path) => /format|column/.test(path))).toEqual([]);
  expect(api.asked).not.toEqual([]);
});

test('a command with a format of its own keeps it', async () => {
  const { err } = await temper('image add x http://h/x --checksum 1 --format xml');
  expect(err).toContain('--format is one of raw, qcow2');
});
