/** The runbooks by which nodes are cleaned of themselves: the system's alone, found once, and nothing goes uncleaned without them. */
import { pinned, resolveCleaning } from '../../src/process/api/cleaning-runbooks';
import { checksOf } from '../../src/process/command/checks';
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { worldOf } from '../support/rule-world';
import { stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api.close());
beforeEach(async () => {
  api.runs.started.length = 0;
  await api.sql`delete from runbooks`;
});

const steps = [{ interface: 'management', step: 'set_boot_device', args: { boot_device: 'disk' }, order: 1 }];
const write = async (name: string, owner: string | null): Promise<string> => {
  const { body } = await api.as('operator', 'POST', '/v1/runbooks', { body: { name, owner, steps } });
  return body.uuid;
};
const named = { gold: 'CUSTOM_CLEAN' };
const name = (cleaningRunbooks: Readonly<Record<string, string>>) =>
  Object.assign(api.rooms, { settings: { ...api.rooms.settings, cleaningRunbooks } });

/** What asking for a tear-down and for `provide` is answered, on nodes of this class. */
const asked = async (resource_class = 'gold'): Promise<unknown[][]> => {
  const verbs = [
    ['active', 'deleted'],
    ['manageable', 'provide'],
  ] as const;
  return Promise.all(
    verbs.map(async ([provision_state, target]): Promise<unknown[]> => {
      const node = await worldOf(api, { resource_class, provision_state })('{node}');
      const reply = await api.as('operator', 'PUT', `/v1/nodes/${node}/states/provision`, { body: { target } });
      return [reply.status, reply.status < 300 ? '' : faultOf(reply)];
    }),
  );
};

const refused = (says: RegExp) => [409, expect.stringMatching(says)];

test.each([
  [
    'taken by a project first',
    (): Promise<string> => write('CUSTOM_CLEAN', stranger),
    /TEMPER_CLEANING_RUNBOOKS.*belongs to a project/,
  ],
  ['missing', async (): Promise<string> => 'none', /does not exist.*TEMPER_CLEANING_RUNBOOKS/],
] as const)('%s: nothing is cleaned by it, and nothing goes uncleaned', async (_, make, says) => {
  name(named);
  await make();
  expect(await asked()).toEqual([refused(says), refused(says)]);
  expect(api.runs.started).toEqual([]);
  expect(await asked('silver')).toEqual([
    [202, ''],
    [202, ''],
  ]);
});

test('given to a project later, it cleans no more', async () => {
  const uuid = await write('CUSTOM_CLEAN', null);
  name(pinned(await resolveCleaning(api.inventory.runbooks.find, named)));
  expect((await asked()).map(([status]) => status)).toEqual([202, 202]);
  await api.sql`update runbooks set owner = ${stranger} where uuid = ${uuid}`;
  expect(await asked()).toEqual([refused(/belongs to a project/), refused(/belongs to a project/)]);
});

test('what was found at the start is meant, and no other that has its name later', async () => {
  const uuid = await write('CUSTOM_CLEAN', null);
  const found = await resolveCleaning(api.inventory.runbooks.find, named);
  expect(found).toEqual([{ resource_class: 'gold', name: 'CUSTOM_CLEAN', uuid }]);
  name(pinned(found));
  await api.sql`update runbooks set name = 'CUSTOM_OLD' where uuid = ${uuid}`;
  await write('CUSTOM_CLEAN', null);
  await asked();
  expect(api.runs.started.map(({ runbook }) => runbook?.uuid)).toEqual([uuid, uuid]);
  await api.sql`delete from runbooks where uuid = ${uuid}`;
  expect(await asked()).toEqual([refused(/does not exist/), refused(/does not exist/)]);
});

describe('doctor', () => {
  const found = async (runbooks: string) => {
    const url = new URL(api.databaseUrl);
    const checks = checksOf({ TEMPER_DATABASE_URL: url.href, TEMPER_CLEANING_RUNBOOKS: runbooks });
    return checks.find(({ name: of }) => of === 'cleaning runbooks')!.find();
  };

  test('shows which they are', async () => {
    const uuid = await write('CUSTOM_CLEAN', null);
    expect(await found('gold=CUSTOM_CLEAN')).toEqual({ is: 'ok', says: `gold: CUSTOM_CLEAN (${uuid})` });
    expect((await found('')).is).toBe('skipped');
  });

  test('says what is wrong with them', async () => {
    await write('CUSTOM_CLEAN', stranger);
    expect(await found('gold=CUSTOM_CLEAN,*=CUSTOM_NONE')).toEqual({
      is: 'failed',
      says: 'gold: CUSTOM_CLEAN belongs to a project; *: CUSTOM_NONE does not exist',
      todo: expect.stringContaining('not cleaned'),
    });
  });
});
