/** Events of rollouts: who sees which, in the list of all and in the stream of one, and when that stream ends. */
import { startTestApi, type TestApi } from '../support/api';
import { runningRun } from '../support/happenings';
import { rolloutOf } from '../support/rule-world';
import { lessee, type Persona } from '../support/world';

type Shown = {
  seq: number;
  kind: string;
  node_uuid: string | null;
  rollout_uuid: string | null;
  data: Record<string, unknown>;
};

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({});
});
afterAll(() => api?.close());

/** A running rollout on a leased node and on one of the owner alone. */
const rollingOut = async () => {
  const { node: leased } = await runningRun(api);
  const { node: own } = await runningRun(api);
  await api.sql`update nodes set lessee = null where uuid = ${own}`;
  const rollout = await rolloutOf(api, leased, 'running');
  await api.sql`
    insert into rollout_targets (rollout, position, node_uuid, owner, wave, state)
    select ${rollout}, 1, uuid, owner, 1, 'pending' from nodes where uuid = ${own}`;
  await api.sql`update rollout_targets set state = 'pending' where rollout = ${rollout}`;
  return { rollout, leased, own };
};
type Rolling = Awaited<ReturnType<typeof rollingOut>>;

const moved = async ({ rollout }: Rolling, node: string, state: string, reason: string | null = null) => {
  await api.sql`update rollout_targets set state = ${state}, reason = ${reason} where rollout = ${rollout} and node_uuid = ${node}`;
};
const act = async ({ rollout }: Rolling, name: string) => {
  const reply = await api.as('owner-manager', 'POST', `/temper/v1/rollouts/${rollout}/${name}`, {
    body: { reason: 'three of project-x failed' },
  });
  if (reply.status !== 200) throw new Error(reply.text);
};
const listed = async (who: Persona, query: string): Promise<Shown[]> => {
  const reply = await api.as(who, 'GET', `/temper/v1/events${query}`);
  expect(reply.status).toBe(200);
  return reply.body.events;
};
const kindsFor = async (who: Persona, query: string) => (await listed(who, query)).map(({ kind }) => kind).reverse();

test('the list has the events of a rollout for those who see it whole, and for a tenant those of its own node', async () => {
  const rolling = await rollingOut();
  await moved(rolling, rolling.leased, 'admitted');
  await moved(rolling, rolling.own, 'failed');
  await act(rolling, 'pause');
  const all = ['rollout.target.admitted', 'rollout.target.failed', 'rollout.paused'];
  const of = `?rollout=${rolling.rollout}`;
  for (const query of [of, '?limit=3']) {
    expect(await kindsFor('operator', query)).toEqual(all);
    expect(await kindsFor('owner-reader', query)).toEqual(all);
  }
  expect(await kindsFor('lessee-reader', of)).toEqual([all[0]]);
  const [first] = await listed('lessee-reader', '?limit=1');
  expect(first).toMatchObject({ kind: all[0], node_uuid: rolling.leased, rollout_uuid: rolling.rollout });
  expect(await kindsFor('owner-reader', `${of}&kind=rollout.paused`)).toEqual(['rollout.paused']);
  expect((await listed('stranger-admin', '')).filter(({ rollout_uuid }) => rollout_uuid !== null)).toEqual([]);
  expect((await api.as('stranger-admin', 'GET', `/temper/v1/events${of}`)).status).toBe(404);
});

test('where a BMC is stands in no reason for a tenant who may not know it', async () => {
  const rolling = await rollingOut();
  await moved(rolling, rolling.leased, 'failed', 'https://192.0.2.9/redfish/v1 did not answer');
  const event = async (who: Persona) => (await listed(who, `?rollout=${rolling.rollout}`))[0]!.data.reason;
  const target = async (who: Persona) =>
    (await api.as(who, 'GET', `/temper/v1/rollouts/${rolling.rollout}/targets`)).body.targets[0].reason;
  for (const reason of [event, target]) {
    expect(await reason('operator')).toContain('192.0.2.9');
    expect(await reason('lessee-reader')).not.toContain('192.0.2.9');
  }
});

test('the next lessee of a node sees nothing of a rollout that was planned before its lease', async () => {
  const rolling = await rollingOut();
  await api.sql`update nodes set lessee = ${lessee} where uuid = ${rolling.own}`;
  await moved(rolling, rolling.own, 'admitted');
  expect(await kindsFor('lessee-reader', `?node=${rolling.own}`)).toEqual([]);
  expect(await kindsFor('lessee-reader', `?rollout=${rolling.rollout}`)).toEqual([]);
});

const streamOf = async (who: Persona, path: string, last?: number) => {
  const leaving = new AbortController();
  const reply = await fetch(`${api.url}${path}`, {
    headers: {
      'x-auth-token': who,
      accept: 'text/event-stream',
      ...(last !== undefined && { 'last-event-id': String(last) }),
    },
    signal: leaving.signal,
  });
  const reader = reply.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    status: reply.status,
    /** Reads until the text is there, or to the end. */
    until: async (wanted?: string): Promise<Shown[]> => {
      while (wanted === undefined || !text.includes(wanted)) {
        const { value, done } = await reader!.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
      }
      return [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, data]) => JSON.parse(data!));
    },
    close: () => leaving.abort(),
  };
};
const ofRollout = ({ rollout }: Rolling, who: Persona, last?: number) =>
  streamOf(who, `/temper/v1/rollouts/${rollout}/events`, last);
const kinds = (events: Shown[]) => events.map(({ kind }) => kind.replace(/^rollout\./, ''));

test('the stream of a rollout has what was and what comes, and ends with the last that it began', async () => {
  const rolling = await rollingOut();
  await moved(rolling, rolling.leased, 'admitted');
  const stream = await ofRollout(rolling, 'owner-reader');
  await stream.until('target.admitted');
  const other = await rollingOut();
  await moved(other, other.own, 'admitted');
  await act(rolling, 'abort');
  await stream.until('rollout.aborted');
  await moved(rolling, rolling.leased, 'done');
  const seen = await stream.until();
  expect(kinds(seen)).toEqual(['target.admitted', 'aborted', 'target.done']);
  expect((await ofRollout(rolling, 'owner-reader', seen[2]!.seq)).status).toBe(204);
  const again = await ofRollout(rolling, 'owner-reader', seen[0]!.seq);
  expect(kinds(await again.until())).toEqual(['aborted', 'target.done']);
});

test('a tenant’s stream of a rollout has its own nodes and the state, and of that not why', async () => {
  const rolling = await rollingOut();
  await moved(rolling, rolling.own, 'failed', 'of another');
  await moved(rolling, rolling.leased, 'admitted');
  await act(rolling, 'abort');
  await moved(rolling, rolling.leased, 'done');
  const seen = await (await ofRollout(rolling, 'lessee-reader')).until();
  expect(kinds(seen)).toEqual(['target.admitted', 'aborted', 'target.done']);
  expect(seen[1]!.data).toEqual({});
});

test('a stream of all has a rollout’s events for those who see it, and goes on when it ends', async () => {
  const rolling = await rollingOut();
  const [whole, part] = await Promise.all(
    (['owner-reader', 'lessee-reader'] as const).map((who) => streamOf(who, '/temper/v1/events')),
  );
  await Promise.all([whole!.until('retry:'), part!.until('retry:')]);
  await moved(rolling, rolling.own, 'admitted');
  await act(rolling, 'pause');
  await moved(rolling, rolling.leased, 'admitted');
  expect(kinds(await whole!.until(`"node_uuid":"${rolling.leased}"`))).toEqual([
    'target.admitted',
    'paused',
    'target.admitted',
  ]);
  expect(kinds(await part!.until(`"node_uuid":"${rolling.leased}"`))).toEqual(['target.admitted']);
  whole!.close();
  part!.close();
});

test('a tenant cannot find out by places and ends how much is done to nodes of others', async () => {
  const rolling = await rollingOut();
  await moved(rolling, rolling.own, 'admitted');
  await moved(rolling, rolling.leased, 'admitted');
  const [, hidden] = await listed('operator', `?rollout=${rolling.rollout}`);
  expect(hidden!.node_uuid).toBe(rolling.own);
  expect((await ofRollout(rolling, 'lessee-reader', hidden!.seq)).status).toBe(400);
  await act(rolling, 'abort');
  await moved(rolling, rolling.leased, 'done');
  const seen = await (await ofRollout(rolling, 'lessee-reader')).until();
  expect(kinds(seen)).toEqual(['target.admitted', 'aborted', 'target.done']);
  await moved(rolling, rolling.own, 'done');
  expect((await ofRollout(rolling, 'lessee-reader', seen.at(-1)!.seq)).status).toBe(204);
  expect(kinds(await (await ofRollout(rolling, 'owner-reader', seen.at(-1)!.seq)).until())).toEqual(['target.done']);
});

test('a place that is no event of the rollout is refused, and a hidden rollout is missing', async () => {
  const rolling = await rollingOut();
  const other = await rollingOut();
  await moved(other, other.own, 'admitted');
  const [elsewhere] = await listed('operator', `?rollout=${other.rollout}`);
  expect((await ofRollout(rolling, 'owner-reader', elsewhere!.seq)).status).toBe(400);
  expect((await ofRollout(rolling, 'stranger-admin')).status).toBe(404);
});
