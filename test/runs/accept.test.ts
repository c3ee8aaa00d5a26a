/** What an acceptance writes, and what it refuses, beyond what a whole run shows; without servers. */
import type { Inventory } from '../../src/inventory';
import { accept } from '../../src/runs/accept';
import type { RunOrder } from '../../src/runs/contract';
import { type Answers, storeOf } from '../support/run-doubles';

const [node, child, other, id] = [1, 2, 3, 4].map((n) => `${n}1111111-2222-4333-8444-555555555555`) as [
  string,
  string,
  string,
  string,
];
const lock = { run: id, node_uuid: node, fence: 1 };
const taken = { lock, owner: 'p1', lessee: 'p2' };
const step = { index: 0, interface: 'power', step: 'reboot', args: {}, acts: [] };
const asked = { requester: { user_name: 'ada', user_id: 'u', request_id: 'r' }, rule: 'r', rule_set: 's' };
const order = {
  node: { uuid: node, name: 'n1', driver: 'redfish', conductor_group: 'east', provision_state: 'manageable' },
  verb: 'clean',
  kind: 'clean',
  event: 'clean',
  ends: 'done',
  target: null,
  fault: null,
  steps: [step],
  ramdisk: {},
  runbook: null,
  asked,
};

const accepted = (over: object = {}, answers: Answers = {}) => {
  const store = storeOf({ 'runs.newId': id, 'runs.accept': taken, ...answers });
  // The only query that answers without a promise.
  const runs = Reflect.get(store.inventory, 'runs') as object;
  const withId = new Proxy(runs, { get: (of, name) => (name === 'newId' ? () => id : Reflect.get(of, name)) });
  const inventory: object = new Proxy(store.inventory, {
    get: (of, name) =>
      name === 'runs'
        ? withId
        : name === 'transaction'
          ? (work: (given: object) => unknown) => work(inventory)
          : Reflect.get(of, name),
  });
  const deps = { inventory: inventory as Inventory, vault: { seal: () => ({}) }, timing: {} };
  const done = accept({ ...order, ...over } as unknown as RunOrder, deps as unknown as Parameters<typeof accept>[1]);
  return { store, done };
};

test('a run of a class with a limit, of a runbook, and of neither, says so in its row', async () => {
  const limit = { class: 'deploy', max: 2 };
  const runbook = { uuid: child, name: 'CUSTOM_X', updated_at: null };
  const hold = { revision: 4, withdrawn: null };
  const both = accepted({ limit, runbook }, { 'runbooks.hold': hold });
  expect((await both.done).input).toMatchObject({ limit, runbook: 'CUSTOM_X' });
  expect(both.store.of('runs.accept')).toEqual([
    [expect.objectContaining({ limit_class: 'deploy', runbook: { uuid: child, name: 'CUSTOM_X', revision: 4 } })],
  ]);
  const neither = accepted();
  expect(await neither.done).toMatchObject({
    input: { runbook: null, lock },
    facts: { owner: 'p1', lessee: 'p2', requester: 'ada', state: 'cleaning' },
  });
  expect(neither.store.of('runs.accept')).toEqual([[expect.objectContaining({ limit_class: null, runbook: null })]]);
  expect(neither.store.of('runs.acceptAlso')).toEqual([]);
});

test.each([
  [undefined, 'Conflict'],
  [{ revision: 4, withdrawn: 'it breaks fans' }, 'RevisionWithdrawn'],
])('a runbook that was changed, or whose revision was withdrawn, starts nothing: %j', async (held, code) => {
  const runbook = { uuid: child, name: 'CUSTOM_X', updated_at: null };
  const { store, done } = accepted({ runbook }, { 'runbooks.hold': held });
  await expect(done).rejects.toMatchObject({ code });
  expect(store.of('runs.accept')).toEqual([]);
});

test('a run that moves no node has no working state', async () => {
  const { store, done } = accepted({ event: null, kind: 'power', verb: 'power', ends: null });
  expect((await done).facts.state).toBeNull();
  expect(store.of('runs.accept')).toEqual([[expect.objectContaining({ to: null, target: null })]]);
});

test.each([
  ['n1', 'n1'],
  [null, node],
])('a node in a state without such a move is named: %s', async (name, says) => {
  const { store, done } = accepted({ node: { ...order.node, name, provision_state: 'active' } });
  await expect(done).rejects.toMatchObject({
    code: 'InvalidState',
    facts: { verb: 'clean', node: says, state: 'active' },
  });
  expect(store.calls).toEqual([]);
});

test('a plan has room up to its limit', async () => {
  const sized = (bytes: number) => {
    const bare = Buffer.byteLength(JSON.stringify({ steps: [{ ...step, args: { text: '' } }] }));
    return accepted({ steps: [{ ...step, args: { text: 'x'.repeat(bytes - bare) } }] }).done;
  };
  expect((await sized(65_536)).input.steps).toHaveLength(1);
  await expect(sized(65_537)).rejects.toMatchObject({
    code: 'InvalidSteps',
    facts: { reason: expect.stringContaining('hold 65537 bytes') },
  });
});

describe('steps on other nodes', () => {
  const on = (uuid: string, name: string | null) => ({ ...step, on: { node_uuid: uuid, name, conductor_group: '' } });

  test('hold these as well, each once, and not the run’s own a second time', async () => {
    const steps = [on(child, 'dpu'), on(child, 'dpu'), on(node, 'n1')];
    const { store, done } = accepted({ steps }, { 'runs.acceptAlso': { [child]: 7 } });
    expect((await done).input).toMatchObject({ also: { [child]: 7 } });
    expect(store.of('runs.acceptAlso')).toEqual([[id, [child]]]);
  });

  test.each([
    [[on(child, 'dpu')], 'dpu'],
    [[on(child, null)], child],
    [[on(child, 'dpu'), on(other, 'dpu2')], 'dpu or another node of these steps'],
  ])('are refused all together where one is busy: %#', async (steps, says) => {
    const { store, done } = accepted({ steps });
    await expect(done).rejects.toMatchObject({ code: 'NodeLocked', facts: { node: says } });
    expect(store.of('runSteps.insert')).toEqual([]);
  });
});

test.each([
  [{}, 'NodeNotFound', node],
  [{ 'runs.stateOf': {} }, 'NodeLocked', 'n1'],
])('a node that is not to be had is gone or busy: %j', async (answers, code, says) => {
  const { done } = accepted({}, { 'runs.accept': undefined, ...answers });
  await expect(done).rejects.toMatchObject({ code, facts: { node: says } });
});

describe('the trail and the event', () => {
  const written = async (over: object) => {
    const { store, done } = accepted(over);
    await done;
    const [[audit], [event]] = [store.of('audit.write')[0]!, store.of('events.append')[0]!] as [[object], [object]];
    return { audit, event };
  };
  const data = {
    verb: 'clean',
    from: 'manageable',
    to: 'cleaning',
    runbook: null,
    steps: [{ interface: 'power', step: 'reboot', args: {} }],
  };

  test('have what was asked, for the project of the node', async () => {
    const { audit, event } = await written({});
    const of = { node_uuid: node, run_id: id, project: 'p1', lessee: 'p2' };
    expect(audit).toEqual({
      ...asked,
      action: 'run.clean',
      resource: 'node',
      resource_id: node,
      project: 'p1',
      run_id: id,
      data,
    });
    expect(event).toEqual({ kind: 'run.accepted', ...of, data });
  });

  test('a reason stands in the trail alone', async () => {
    const { audit, event } = await written({ asked: { ...asked, reason: 'audited' } });
    expect(audit).toMatchObject({ data: { ...data, reason: 'audited' } });
    expect(event).toMatchObject({ data });
    expect((event as { data: object }).data).not.toHaveProperty('reason');
  });

  test('name the run that is taken up, and the power that is asked for', async () => {
    const { event } = await written({ resumes: { run: child, from: 2 }, power: { target: 'power on' } });
    expect(event).toMatchObject({ data: { resumes: child, resume_from: 2, target: 'power on' } });
  });
});

describe('a run that takes a node over', () => {
  const before = { id: other, node_uuid: node, workflow_id: 'w0', cursor: 2, owner: 'p1', lessee: null };

  test('ends the one before in the store, and has its workflow cancelled', async () => {
    const { store, done } = accepted({ takesOver: true }, { 'runs.holding': before });
    expect((await done).input).toMatchObject({ displaces: { run: other, workflow_id: 'w0' } });
    expect(store.of('runs.accept')).toEqual([[expect.objectContaining({ displaces: other })]]);
    const error = 'By request, clean took the node over.';
    expect(store.of('runSteps.failAt')).toEqual([[other, 2, error]]);
    expect(store.of('runs.displaced')).toEqual([[other, error]]);
    expect(store.of('runs.queueMessage')).toEqual([[other, 'cancel', {}]]);
    expect(store.of('events.append')[0]).toEqual([
      {
        kind: 'run.aborted',
        node_uuid: node,
        run_id: other,
        project: 'p1',
        lessee: null,
        data: { from: 'manageable', to: null, error },
      },
    ]);
  });

  test('has a workflow even without steps, which waits for the end of the other', async () => {
    const { store, done } = accepted({ takesOver: true, steps: [] }, { 'runs.holding': before });
    expect(await done).toMatchObject({ ended: false });
    expect(store.of('runs.finish')).toEqual([]);
  });

  test.each([
    ['none is there', { takesOver: true }, {}],
    ['it does not ask for that', {}, { 'runs.holding': before }],
  ])('ends none where %s', async (_, over, answers) => {
    const { store, done } = accepted(over, answers);
    expect((await done).input).not.toHaveProperty('displaces');
    expect(store.of('runs.accept')).toEqual([[expect.objectContaining({ displaces: null })]]);
    expect(store.of('runs.displaced')).toEqual([]);
  });
});
