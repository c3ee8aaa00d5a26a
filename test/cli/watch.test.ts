/** `temper runs watch`: it prints every event once, through cut connections. */
import type { ServerResponse } from 'node:http';
import { eventsOf, type StreamEvent } from '../../src/model/event-streams';
import { temper } from './support/command';
import { type Double, fault, type Handler, startDouble } from './support/double';

const uuid = '11111111-2222-4333-8444-555555555555';
let api: Double;
let state: string;
let stream: (lastId: string | undefined, response: ServerResponse) => ReturnType<Handler>;
beforeAll(async () => {
  api = await startDouble(({ path, headers }, response) => {
    const lastId = headers['last-event-id'] as string | undefined;
    if (!path.endsWith('/events'))
      return { json: { uuid, state, cursor: 0, waiting_for: null, last_error: null, steps: [] } };
    return lastId !== undefined && state !== 'running' ? { status: 204 } : stream(lastId, response);
  });
});
beforeEach(() => {
  state = 'running';
});
afterAll(() => api.close());

const watch = (...more: string[]) =>
  temper(['runs', 'watch', uuid, ...more], { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });

const event = (seq: number, kind: string, data: object = {}) =>
  `id: ${seq}\nevent: ${kind}\ndata: ${JSON.stringify({ seq, at: `T${seq}`, kind, data })}\n\n`;
const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

test('events are printed as they come, and the end says how the run ended', async () => {
  stream = (_, response) => {
    state = 'succeeded';
    begin(response).end(
      `retry: 2000\n\n: keep-alive\n\n${event(1, 'step.begun', { index: 2, step: 'power.reboot', attempt: 1 })}${event(2, 'run.succeeded')}`,
    );
    return undefined;
  };
  expect(await watch()).toEqual({
    status: 0,
    err: '',
    out: 'T1  step.begun     index=2 step=power.reboot attempt=1\nT2  run.succeeded\nThe run ended: succeeded\n',
  });
});

test('a run that fails makes the command fail', async () => {
  stream = (_, response) => {
    state = 'failed';
    begin(response).end(event(1, 'run.failed', { error: 'no' }));
    return undefined;
  };
  expect((await watch()).status).toBe(1);
});

test('a connection that is cut is taken up again where it was left, and nothing is printed twice', async () => {
  const resumed: (string | undefined)[] = [];
  stream = (lastId, response) => {
    resumed.push(lastId);
    if (resumed.length === 1) {
      begin(response).write(`${event(7, 'step.begun')}id: 8\nevent: step.done\ndata: {"ha`, () => response.destroy());
    } else {
      state = 'succeeded';
      begin(response).end(`${event(8, 'step.done')}${event(9, 'run.succeeded')}`);
    }
    return undefined;
  };
  const { status, out } = await watch('--json');
  expect(status).toBe(0);
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).seq),
  ).toEqual([7, 8, 9]);
  expect(resumed).toEqual([undefined, '7']);
});

test('a server that is away for a moment is tried again', async () => {
  let tries = 0;
  stream = (_, response) => {
    if (++tries === 1) return { status: 503, text: 'Service Unavailable' };
    state = 'succeeded';
    begin(response).end(event(1, 'run.succeeded'));
    return undefined;
  };
  const { status, err } = await watch();
  expect(status).toBe(0);
  expect(err).toMatch(/503.* Trying again\.\n$/);
});

test('a run that ended before has nothing more to tell', async () => {
  state = 'succeeded';
  stream = () => ({ status: 204 });
  expect(await watch()).toEqual({ status: 0, err: '', out: 'The run ended: succeeded\n' });
});

test('a refusal ends it', async () => {
  stream = () => fault(403, 'Access was denied.');
  expect(await watch()).toMatchObject({ status: 1, err: 'temper: Access was denied. (HTTP 403)\n' });
});

test('it ends when it is asked to, whatever it waits for', async () => {
  const ending = new AbortController();
  stream = (_, response) => {
    begin(response).write(event(1, 'step.begun'));
    return undefined;
  };
  const heard = () => ending.abort();
  const env = { TEMPER_URL: api.url };
  expect((await temper(['runs', 'watch', uuid], { env, heard, signal: ending.signal })).status).toBe(1);
});

describe('a stream of events', () => {
  const read = async (parts: readonly string[]): Promise<StreamEvent[]> => {
    const bytes = (async function* () {
      for (const part of parts) yield Buffer.from(part, 'latin1');
    })();
    const events = [];
    for await (const one of eventsOf(bytes)) events.push(one);
    return events;
  };
  const text = Buffer.from('id: 1\r\nevent: a\r\ndata: é1\r\ndata: 2\r\n\r\n:x\n\ndata:3\n\n', 'utf8').toString(
    'latin1',
  );
  const expected = [
    { id: '1', event: 'a', data: 'é1\n2' },
    { id: null, event: 'message', data: '3' },
  ];

  test('is read alike wherever it is cut', async () => {
    for (let at = 0; at <= text.length; at++) expect(await read([text.slice(0, at), text.slice(at)])).toEqual(expected);
    expect(await read([...text])).toEqual(expected);
  });

  test('drops an event that its end cut off', async () => {
    expect(await read(['data: 1\n\ndata: 2\n'])).toEqual([{ id: null, event: 'message', data: '1' }]);
  });
});
