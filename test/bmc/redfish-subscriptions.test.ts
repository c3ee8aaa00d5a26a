/** Event subscriptions on the emulated rack: made once whatever happens, listed, read and ended, by the ids that the BMC gave. */
import { intentsOf } from './support/context';
import { plainBmc, startDouble } from './support/double';
import { type RackBench, startRackBench } from './support/rack';

let racks: RackBench;
beforeAll(async () => {
  racks = await startRackBench({ bmcs: 20, profiles: ['idrac9', 'openbmc'] });
});
afterAll(() => racks.close());

const wanted = {
  destination: 'https://events.example.org/a',
  context: 'here',
  secret_headers: [{ Authorization: 'Bearer s3cr3t' }],
};

test('one is made, and answered as the BMC shows it', async () => {
  const { run, state } = racks.bench('idrac9');
  const { value } = await run('create_subscription', wanted);
  expect(value).toEqual({
    Id: expect.stringMatching(/^\d+$/),
    Context: 'here',
    Protocol: 'Redfish',
    Destination: wanted.destination,
    EventTypes: ['Alert'],
  });
  expect(state().subscriptions).toMatchObject([{ destination: wanted.destination, headers: wanted.secret_headers }]);
});

test('headers are in no intent and in no answer', async () => {
  const { run } = racks.bench('idrac9');
  const intents = intentsOf('create_subscription');
  const outcome = await run('create_subscription', wanted, { intents });
  expect(intents.kept.length).toBeGreaterThan(0);
  expect(JSON.stringify([intents.kept, outcome])).not.toContain('s3cr3t');
});

test('an equal one that is there already is not taken for the new one', async () => {
  const { run, state } = racks.bench('idrac9');
  const first = await run('create_subscription', wanted);
  const second = await run('create_subscription', wanted);
  expect((second.value as { Id: string }).Id).not.toBe((first.value as { Id: string }).Id);
  expect(state().subscriptions).toHaveLength(2);
});

test('an attempt after a lost answer finds the one that was made', async () => {
  const { run, fault, state } = racks.bench('openbmc');
  const intents = intentsOf('create_subscription');
  fault({ kind: 'drop-after-write', path: 'Subscriptions', remaining: 1 });
  const { value } = await run('create_subscription', wanted, { intents });
  expect(value).toMatchObject({ Destination: wanted.destination });
  expect((await run('create_subscription', wanted, { intents, attempt: 2 })).value).toEqual(value);
  expect(state().subscriptions).toHaveLength(1);
});

test('types that the BMC does not have are refused, with those it has', async () => {
  const { failure, accepted } = racks.bench('idrac9');
  const error = await failure('create_subscription', { ...wanted, event_types: ['Alert', 'Rain'] });
  expect([error.code, error.message]).toEqual(['StepRejected', expect.stringMatching(/Rain; it has: StatusChange/)]);
  expect(accepted()).toEqual([]);
});

test('what the BMC refuses is reported', async () => {
  const { failure } = racks.bench('idrac9');
  const error = await failure('create_subscription', { ...wanted, destination: 'nowhere' });
  expect([error.code, error.message]).toEqual(['BmcRejected', expect.stringContaining('is no URI')]);
});

test('they are listed and read one by one', async () => {
  const { run } = racks.bench('openbmc');
  const empty = { 'Members@odata.count': 0, Members: [] };
  expect((await run('read_subscriptions')).value).toMatchObject(empty);
  const { Id } = (await run('create_subscription', wanted)).value as { Id: string };
  const list = (await run('read_subscriptions')).value as { Members: object[] };
  expect(list.Members).toEqual([{ '@odata.id': expect.stringMatching(new RegExp(`/${Id}$`)) }]);
  expect((await run('read_subscriptions', { id: Id })).value).toMatchObject({ Id, Context: 'here' });
});

test('one is ended, and the same once more for an attempt after a kill', async () => {
  const { run, state } = racks.bench('openbmc');
  const { Id: id } = (await run('create_subscription', wanted)).value as { Id: string };
  const intents = intentsOf('delete_subscription');
  await run('delete_subscription', { id }, { intents });
  expect(state().subscriptions).toEqual([]);
  expect(await run('delete_subscription', { id }, { intents, attempt: 2 })).toMatchObject({ is: 'done' });
});

test.each(['0', '../Subscriptions', '', '../../Systems/1'])('there is none of the id %j', async (id) => {
  const { failure, accepted } = racks.bench('openbmc');
  for (const act of ['read_subscriptions', 'delete_subscription'] as const)
    expect((await failure(act, { id })).code).toBe('SubscriptionNotFound');
  expect(accepted()).toEqual([]);
});

test('a BMC without event service says so', async () => {
  const double = await startDouble(plainBmc());
  const { failure } = racks.bench('idrac9', { redfish_address: double.url });
  for (const act of ['read_subscriptions', 'create_subscription', 'delete_subscription'] as const)
    expect((await failure(act, { ...wanted, id: '1' })).code).toBe('BmcUnsupported');
  await double.close();
});
