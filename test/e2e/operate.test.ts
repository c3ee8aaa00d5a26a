/** A firmware step that fails is operated to success: by retry, by other arguments and by skip; from API, command and Temporal's UI. */
import { ask, rests } from '../../demo/nodes';
import type { Json, Person } from '../../demo/system';
import { runClient, type Said } from './support/cli';
import { acceptedSince, commandOf, ended, journalNow, manageable, newestOf, settled, withinMs } from './support/nodes';
import { type System, startSystem } from './support/system';
import { type AuditRow, auditOf, withEngine } from './support/traces';

let system: System;
let operator: Person;

/** A node each; a caller who operates on a run may try only that. */
const indexes = [0, 1, 2, 4, 5, 6] as const;

beforeAll(async () => {
  system = await startSystem(7, { TEMPER_RACK_SPEED: '5', TEMPER_POLL_MS: '200' });
  operator = await system.person('operator');
  await manageable(system, operator, ...indexes);
});
afterAll(() => system?.stop());

const image = (version: string) => `http://images.example.org/bios-${version}.bin`;
const settings = (version: string) => [{ component: 'bios', url: image(version) }];
const steps = [
  {
    interface: 'firmware',
    step: 'update',
    args: { settings: settings('4.2.1') },
    temper: { on_failure: 'park' },
  },
  { interface: 'management', step: 'set_indicator', args: { state: 'blinking' } },
];

type Parked = { readonly run: string; readonly node: string; readonly index: number; readonly since: number };

/** A cleaning whose firmware update has failed for a known reason, and which stands still for a person. */
const parked = async (index: number): Promise<Parked> => {
  const node = `bmc-${index}`;
  await system.rack.fault(index, { kind: 'task-fails', seconds: 600 });
  const since = await journalNow(system, node);
  await ask(operator, node, 'clean', { clean_steps: steps });
  const run = await newestOf(operator, node);
  expect(await settled(operator, run)).toMatchObject({
    state: 'parked',
    cursor: 0,
    waiting_for: 'a person: the step failed',
    steps: [{ state: 'parked', last_error: expect.stringMatching(/bios.*failed/) }, { state: 'pending' }],
  });
  return { run, node, index, since };
};

/** The firmware images that the node's BMC was asked to install, and whether its light was changed. */
const heard = async ({ node, since }: Parked) => {
  const commands = (await acceptedSince(system, node, since)).map(commandOf);
  return {
    images: commands.flatMap((one) => /"ImageURI":"([^"]+)"/.exec(one)?.[1] ?? []),
    light: commands.some((one) => /Indicator/.test(one)),
  };
};

const endsWell = async ({ run, node }: Parked, ...states: readonly string[]): Promise<void> => {
  const seen = await ended(operator, run);
  expect({ state: seen.state, last_error: seen.last_error }).toEqual({ state: 'succeeded', last_error: null });
  expect(seen.steps.map((step: Json) => step.state)).toEqual(states);
  await rests(operator, node, 'manageable', withinMs);
};

const mend = ({ index }: Parked): Promise<unknown> => system.rack.mend(index);
/** What took effect: an act is on record before the run is asked, and one that it refuses has a second row that says so. */
const acted = (run: string, act: string): Promise<AuditRow[]> =>
  auditOf(system, run).then((rows) =>
    rows.filter(({ action }, at) => action === `run.${act}` && rows[at + 1]?.action !== `run.${act}.refused`),
  );

/** What stands in the trail of an act that was asked of the API, by whatever client. */
const byOperator = (reason: string) => [
  expect.objectContaining({
    requester: expect.objectContaining({ user_name: 'operator', strategy: 'keystone' }),
    rule: expect.stringMatching(/^temper:run:/),
    data: expect.objectContaining({ reason }),
  }),
];

describe('from the API', () => {
  const post = ({ run }: Parked, act: string, body: object) =>
    operator.ask('POST', `/temper/v1/runs/${run}/${act}`, body);

  test('the step is retried with another image, after refusals of what does not fit', async () => {
    const one = await parked(indexes[0]);
    expect(await post(one, 'retry', {})).toMatchObject({ status: 400 });
    const stranger = await system.person('stranger');
    const path = `/temper/v1/runs/${one.run}/retry`;
    expect(await stranger.ask('POST', path, { reason: 'mine' })).toMatchObject({ status: 404 });
    expect(await post(one, 'retry', { reason: 'late', step: 1 })).toMatchObject({ status: 409 });
    const unfit = { reason: 'oops', args: { settings: [{ component: 'bios' }] } };
    expect(await post(one, 'retry', unfit)).toMatchObject({ status: 400, says: expect.stringMatching(/url/) });
    expect(await acted(one.run, 'retry')).toEqual([]);
    await mend(one);
    const args = { settings: settings('4.2.2') };
    expect(await post(one, 'retry', { reason: 'the image was for another board', args })).toMatchObject({
      status: 202,
      body: { will: 'The step is run again.' },
    });
    await endsWell(one, 'done', 'done');
    expect(await heard(one)).toEqual({ images: [image('4.2.1'), image('4.2.2')], light: true });
    expect(await acted(one.run, 'retry')).toEqual(byOperator('the image was for another board'));
  });

  test('the step is skipped, and the run goes on without it', async () => {
    const one = await parked(indexes[1]);
    expect(await post(one, 'skip', { reason: 'updated by hand' })).toMatchObject({ status: 202 });
    await endsWell(one, 'skipped', 'done');
    expect(await heard(one)).toEqual({ images: [image('4.2.1')], light: true });
    expect(await acted(one.run, 'skip')).toEqual(byOperator('updated by hand'));
    expect(await post(one, 'skip', { reason: 'again' })).toMatchObject({ status: 409 });
  });
});

describe('from the temper command', () => {
  const temper = (...args: readonly string[]): Promise<Said> =>
    runClient(system, process.execPath, [system.program('temper'), '--os-cloud', 'operator', ...args]);

  test('the parked run is found with its reason, and retried', async () => {
    const one = await parked(indexes[2]);
    const list = await temper('runs', 'list', '--state', 'parked');
    expect(list.out).toMatch(new RegExp(`${one.run} +${one.node} +clean +parked +1/2 .*a person: the step failed`));
    const { last_error } = (await operator.must('GET', `/temper/v1/runs/${one.run}`)).steps[0];
    expect((await temper('runs', 'show', one.run)).out).toContain(last_error);
    await mend(one);
    expect(await temper('runs', 'retry', one.run, '--reason', 'the BMC was full')).toEqual({
      status: 0,
      out: 'The step is run again.\n',
      err: '',
    });
    expect(await temper('runs', 'watch', one.run)).toMatchObject({
      status: 0,
      out: expect.stringMatching(/succeeded/),
    });
    await endsWell(one, 'done', 'done');
    expect(await heard(one)).toEqual({ images: [image('4.2.1'), image('4.2.1')], light: true });
    expect(await acted(one.run, 'retry')).toEqual(byOperator('the BMC was full'));
  });

  test('the step is skipped; without a reason nothing happens', async () => {
    const one = await parked(indexes[3]);
    expect(await temper('runs', 'skip', one.run)).toMatchObject({ status: 2, err: expect.stringMatching(/--reason/) });
    expect(await acted(one.run, 'skip')).toEqual([]);
    expect(await temper('runs', 'skip', one.run, '--reason', 'not worth a visit')).toMatchObject({ status: 0 });
    await endsWell(one, 'skipped', 'done');
    expect(await heard(one)).toEqual({ images: [image('4.2.1')], light: true });
    expect(await acted(one.run, 'skip')).toEqual(byOperator('not worth a visit'));
  });
});

describe('from Temporal’s UI, which sends updates to the workflow', () => {
  /** What the UI sends: the name of an update and one argument, as a person typed it. */
  const send = async ({ run }: Parked, update: string, argument: object): Promise<unknown> => {
    const { node_uuid } = await operator.must('GET', `/temper/v1/runs/${run}`);
    const id = `node-${node_uuid}.clean.${run}`;
    return withEngine(system, ({ workflow }) => workflow.getHandle(id).executeUpdate(update, { args: [argument] }));
  };

  /** The engine knows no person: what they call themselves is kept as their own word. */
  const byNobody = (by: string, reason: string) => [
    expect.objectContaining({
      requester: expect.objectContaining({ user_name: null, user_id: null, strategy: 'temporal-ui' }),
      rule: null,
      data: { via: 'temporal-ui', by_claim: by, reason },
    }),
  ];

  test('the step is retried; an update for another step is refused, and what it claims of arguments is not taken', async () => {
    const one = await parked(indexes[4]);
    await expect(send(one, 'retryStep', { cursor: 1, by: 'ops', reason: 'wrong step' })).rejects.toThrow();
    expect(await acted(one.run, 'retry')).toEqual([]);
    await mend(one);
    const args = { settings: settings('6.6.6') };
    await send(one, 'retryStep', { cursor: 0, by: 'ops', reason: 'the BMC was full', args });
    await endsWell(one, 'done', 'done');
    expect(await heard(one)).toEqual({ images: [image('4.2.1'), image('4.2.1')], light: true });
    expect(await acted(one.run, 'retry')).toEqual(byNobody('ops', 'the BMC was full'));
  });

  test('the step is skipped', async () => {
    const one = await parked(indexes[5]);
    await send(one, 'skipStep', { cursor: 0, by: 'ops', reason: 'updated by hand' });
    await endsWell(one, 'skipped', 'done');
    expect(await heard(one)).toEqual({ images: [image('4.2.1')], light: true });
    expect(await acted(one.run, 'skip')).toEqual(byNobody('ops', 'updated by hand'));
  });
});
