/**
 * What a rollout's plan says of many nodes together is what the admission of each says alone, word for word, on random worlds: 500 of
 * them, or as many as TEMPER_PLAN_WORLDS says.
 */

import type { NodeRow } from '../../src/inventory/nodes/nodes';
import type { NodeUuid } from '../../src/model/ids';
import type { PinnedRunbook, Refused } from '../../src/rollouts/contract';
import { createPrepare, createPrepareFor } from '../../src/rollouts/prepare';
import { startTestApi, type TestApi } from '../support/api';
import { biosStep, reboot } from '../support/runbook-steps';
import { lessee, owner, personas, stranger } from '../support/world';

const worlds = Number(process.env.TEMPER_PLAN_WORLDS ?? 500);
const atOnce = 100;

let api: TestApi;
const books: PinnedRunbook[] = [];
beforeAll(async () => {
  api = await startTestApi({ settings: { disallowedSteps: ['management.reset_bmc'] } });
  await api.sql`insert into workers (hostname, conductor_group, drivers, role, updated_at)
    values ('w', '', ${['redfish', 'fake-hardware']}, 'bmc', now() + interval '1 day')`;
  const bios = biosStep('A', 'b');
  const reported = { interface: 'deploy', step: 'own_step', order: 3, args: {} };
  await book('PUBLIC', [reboot, bios], { public: true });
  await book('OWN', [reboot], { owner });
  await book('REPORTED', [reboot, reported], { public: true });
  await book('ALONE', [reboot, bios], { public: true, disable_ramdisk: true });
});
afterAll(() => api?.close());

const book = async (name: string, steps: readonly object[], more: object): Promise<void> => {
  const { status, body } = await api.as('operator', 'POST', '/v1/runbooks', { body: { name, steps, ...more } });
  expect(status).toBe(201);
  expect((await api.as('operator', 'PUT', `/v1/runbooks/${name}/traits/CUSTOM_FIT`)).status).toBe(204);
  const row = await api.inventory.runbooks.find(body.uuid);
  books.push({ uuid: body.uuid, name, revision: row!.revision });
};

/** The same sequence for the same seed, so that a failure can be seen again. */
const chooser = (seed: number) => {
  let state = seed;
  return <T>(from: readonly T[]): T => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return from[Math.floor((state / 2_147_483_648) * from.length)]!;
  };
};
type Choose = ReturnType<typeof chooser>;

const states = [
  'manageable',
  'active',
  'available',
  'enroll',
  'clean wait',
  'clean failed',
  'service failed',
  'manageable',
  'active',
];
const address = { redfish_address: 'https://192.0.2.7', deploy_iso: 'http://images.example.org/ipa.iso' };

const nodeOf = (choose: Choose) => ({
  driver: choose(['redfish', 'fake-hardware', 'redfish']),
  provision_state: choose(states),
  maintenance: choose([false, false, false, true]),
  retired: choose([false, false, false, true]),
  conductor_group: choose(['', '', '', 'far']),
  owner: choose([owner, owner, null]),
  lessee: choose([null, null, lessee, stranger]),
  traits: choose([['CUSTOM_FIT'], ['CUSTOM_FIT'], []]),
  driver_info: api.sql.json(choose([address, address, {}])),
  reservation: choose([null, null, null, '00000000-0000-4000-8000-000000000001']),
});

const placed = async (choose: Choose, nodes: number): Promise<NodeRow[]> => {
  await api.sql`delete from nodes`;
  const rows = Array.from({ length: nodes }, (_, at) => ({ name: `n${at}`, ...nodeOf(choose) }));
  const made = await api.sql<{ uuid: NodeUuid }[]>`insert into nodes ${api.sql(rows)} returning uuid`;
  for (const { uuid } of made)
    if (choose([true, false, false]))
      await api.inventory.details.report(uuid, [{ interface: 'deploy', step: 'own_step', priority: 0 }]);
  return Promise.all(made.map(async ({ uuid }) => (await api.inventory.nodes.find({ uuid }))!));
};

const requester = {
  user_id: 'u',
  user_name: 'u',
  project_id: null,
  system_scope: null,
  strategy: 'keystone',
  request_id: 'r',
};
const people = [
  'operator',
  'system-member',
  'owner-admin',
  'owner-manager',
  'owner-member',
  'lessee-member',
  'stranger-admin',
] as const;
const verbs = ['clean', 'service', 'clean', 'service', 'inspect', 'manage', 'provide'] as const;

const askedOf = (choose: Choose) => {
  const verb = choose(verbs);
  const runbook = verb === 'clean' || verb === 'service' ? choose(books) : null;
  return { who: personas[choose(people)], requester, work: { verb, runbook } };
};

const said = (refused: Refused | undefined) =>
  refused ? { code: refused.code, rule: refused.rule, reason: refused.reason } : { code: 'will run' };

test('the plan of many nodes and the admission of each say the same on random worlds', async () => {
  const met = new Set<string>();
  for (let seed = 1; seed <= Math.ceil(worlds / atOnce); seed++) {
    const choose = chooser(seed);
    api.setPolicy({ set: choose(['temper', 'temper', 'closed', 'ironic']) });
    const nodes = await placed(choose, atOnce);
    const prepareFor = createPrepareFor(api.rooms);
    const plan = await prepareFor(nodes);
    // A coordinator's look asks for some nodes together, which is to be what each says alone.
    const admissions = [createPrepare(api.rooms), await prepareFor(nodes.slice(0, 25))];
    for (const [at, node] of nodes.entries()) {
      const admission = admissions[at % 2]!;
      const asked = { ...askedOf(choose), node };
      const planned = await plan({ ...asked, want: 'every' });
      const admitted = await admission({ ...asked, want: 'first' });
      const world = { seed, node: node.name, user: asked.who.user_id, work: asked.work };
      expect({ ...world, says: said(planned.refusals[0]) }).toEqual({ ...world, says: said(admitted.refusals[0]) });
      expect(planned.prepared?.order.steps).toEqual(admitted.prepared?.order.steps);
      met.add(said(admitted.refusals[0]).code);
    }
  }
  // Too narrow worlds would prove nothing.
  expect([...met]).toEqual(expect.arrayContaining(['will run', 'rule', 'state', 'held', 'maintenance', 'no_worker']));
}, 600_000);
