/**
 * What a rollout runs by is withdrawn while it runs, by requests and files as people do it: one node is done, and of the other becomes
 * what the table says.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grantsFrom } from '../../src/process/workers/grants';
import type { Authority } from '../../src/rollouts/contract';
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';
import { owner, personas, stranger } from '../support/world';

const folder = mkdtempSync(join(tmpdir(), 'temper-users-'));
const users = join(folder, 'users.yaml');
const starter = personas['owner-manager'].user_id;
const asUsersFileSays = grantsFrom({
  TEMPER_ROLLOUT_GRANT_HOURS: 1,
  TEMPER_TOKEN_OUTAGE_SECONDS: 3_600,
  TEMPER_USERS_FILE: users,
});
// The persons of these tests sign in by tokens, which another file may know; whom http_basic knows, the users file knows alone.
const authority: Authority = (granted, at) => asUsersFileSays({ ...granted, strategy: 'http_basic' }, at);

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRestartWorld();
});
afterAll(async () => {
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});
const admitting = { 'temper:rollout:without_consent': 'role:manager' };
const inForce = (overrides: Readonly<Record<string, string>> = {}): void =>
  world.setPolicy({ set: 'temper', overrides: { ...admitting, ...overrides } });
const writeUsers = (roles: string): void =>
  writeFileSync(users, `users:\n  ${starter}: {roles: [${roles}], project: ${owner}}\n`);
beforeEach(() => {
  writeUsers('manager');
  inForce();
});

const must = async (method: string, path: string, body?: unknown): Promise<void> => {
  const { status, text } = await world.api.as('operator', method, path, { body });
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
};
const patch = (node: string, key: 'owner' | 'lessee' | 'retired', value: unknown): Promise<void> =>
  must('PATCH', `/v1/nodes/${node}`, [{ op: 'add', path: `/${key}`, value }]);

const patchRunbook = (runbook: string, path: string, value: unknown): Promise<void> =>
  must('PATCH', `/v1/runbooks/${runbook}`, [{ op: 'replace', path, value }]);

type Rollout = { readonly uuid: string; readonly plan_hash: string };
type Target = { readonly node_uuid: string; readonly state: string };

const look = (rollout: Rollout) => world.tend(rollout, { authority });

/** A rollout of two nodes, one after the other, of which the first is done. @returns it, and the node that is to come */
const halfDone = async (values: object, runbook: string) => {
  const nodes = await world.nodes(['r1', 'r1'], values);
  const rollout: Rollout = await world.plan({ select: { nodes }, runbook, max_in_flight: 1 });
  await world.start(rollout);
  await look(rollout);
  await world.endRuns(rollout);
  const [next, ...others] = (await world.targets(rollout)).filter(({ state }: Target) => state !== 'done');
  expect([next.state, others]).toEqual(['pending', []]);
  return { rollout, node: next.node_uuid as string };
};

const goesOn = { state: 'succeeded', code: null };
const paused = (code: string) => ({ state: 'paused', code });
const skipped = (code: string, rule: string | null = null) => ({ state: 'skipped', code, rule });
const untouched = { state: 'pending', code: null, rule: null };

type Withdrawn = {
  readonly what: string;
  /** Of the nodes, where they are not as the others. */
  readonly values?: object;
  readonly runbook?: string;
  /** Before the plan is made. */
  prepare?(): Promise<void>;
  withdraw(node: string): Promise<void> | void;
  /** What the rollout, and the node that was to come, are after the next look. */
  readonly rollout: object;
  readonly target: object;
};

const withdrawals: readonly Withdrawn[] = [
  {
    what: 'the role of the person who started it',
    withdraw: () => writeUsers('reader'),
    rollout: paused('authority_lost'),
    target: untouched,
  },
  {
    what: 'that person’s being a user',
    withdraw: () => writeFileSync(users, 'users: {}\n'),
    rollout: paused('authority_lost'),
    target: untouched,
  },
  {
    what: 'an answer of what knows the users',
    withdraw: () => rmSync(users),
    rollout: { state: 'running', code: 'identity_unavailable' },
    target: untouched,
  },
  {
    what: 'the trait that approves the runbook for the node',
    withdraw: (node) => must('DELETE', `/v1/nodes/${node}/traits/CUSTOM_RESTART`),
    rollout: goesOn,
    target: skipped('trait'),
  },
  {
    what: 'the node’s owner',
    withdraw: (node) => patch(node, 'owner', stranger),
    rollout: goesOn,
    target: skipped('changed_since_plan'),
  },
  {
    what: 'the owner’s use of the node, which is leased',
    withdraw: (node) => patch(node, 'lessee', stranger),
    rollout: goesOn,
    target: skipped('changed_since_plan'),
  },
  {
    what: 'the lease of the node',
    values: { lessee: stranger },
    withdraw: (node) => patch(node, 'lessee', null),
    rollout: goesOn,
    target: skipped('changed_since_plan'),
  },
  {
    what: 'the lease of the node, which is leased to the same project again',
    values: { lessee: stranger },
    withdraw: async (node) => {
      await patch(node, 'lessee', null);
      await patch(node, 'lessee', stranger);
    },
    rollout: goesOn,
    target: skipped('changed_since_plan'),
  },
  {
    what: 'a line of the policy',
    withdraw: () => inForce({ 'temper:node:run_runbook': '!' }),
    rollout: goesOn,
    target: skipped('rule', 'temper:node:run_runbook'),
  },
  {
    what: 'the sight of the node, by a line of the policy',
    withdraw: () => inForce({ 'baremetal:node:get': 'role:admin and system_scope:all' }),
    rollout: goesOn,
    target: skipped('rule', 'baremetal:node:get'),
  },
  {
    what: 'the revision of the runbook',
    runbook: 'CUSTOM_RESTART_ONCE',
    values: { traits: ['CUSTOM_RESTART_ONCE'] },
    withdraw: () =>
      must('POST', '/temper/v1/runbooks/CUSTOM_RESTART_ONCE/revisions/1/withdraw', { reason: 'it bricks' }),
    rollout: paused('revision_withdrawn'),
    target: untouched,
  },
  {
    what: 'the publication of the runbook',
    runbook: 'CUSTOM_UNPUBLISHED',
    values: { traits: ['CUSTOM_UNPUBLISHED'] },
    withdraw: () => patchRunbook('CUSTOM_UNPUBLISHED', '/public', false),
    rollout: goesOn,
    target: skipped('rule', 'baremetal:runbook:get'),
  },
  {
    what: 'the runbook, which is given to another project',
    runbook: 'CUSTOM_GIVEN',
    values: { traits: ['CUSTOM_GIVEN'] },
    withdraw: async () => {
      await patchRunbook('CUSTOM_GIVEN', '/public', false);
      await patchRunbook('CUSTOM_GIVEN', '/owner', stranger);
    },
    rollout: goesOn,
    target: skipped('rule', 'baremetal:runbook:get'),
  },
  {
    what: 'the runbook, which is deleted',
    runbook: 'CUSTOM_DELETED',
    values: { traits: ['CUSTOM_DELETED'] },
    withdraw: () => must('DELETE', '/v1/runbooks/CUSTOM_DELETED'),
    rollout: paused('revision_withdrawn'),
    target: untouched,
  },
  {
    what: 'the trait by which the runbook is approved for nodes',
    runbook: 'CUSTOM_UNTRAITED',
    values: { traits: ['CUSTOM_UNTRAITED_GOLD'] },
    prepare: () => must('PUT', '/v1/runbooks/CUSTOM_UNTRAITED/traits/CUSTOM_UNTRAITED_GOLD'),
    withdraw: () => must('DELETE', '/v1/runbooks/CUSTOM_UNTRAITED/traits/CUSTOM_UNTRAITED_GOLD'),
    rollout: goesOn,
    target: skipped('trait'),
  },
  {
    what: 'leave to work on the node, by a freeze',
    withdraw: (node) => must('POST', `/temper/v1/nodes/${node}/freezes`, { reason: 'fans' }),
    rollout: { state: 'running', code: null },
    target: untouched,
  },
];

test.each(withdrawals)('$what', async ({ values = {}, runbook = 'CUSTOM_RESTART', prepare, withdraw, ...expected }) => {
  if (runbook !== 'CUSTOM_RESTART') await world.runbook(runbook);
  await prepare?.();
  const { rollout, node } = await halfDone(values, runbook);
  await withdraw(node);
  await look(rollout);
  const targets = await world.targets(rollout);
  expect(await world.show(rollout)).toMatchObject(expected.rollout);
  expect(targets.find(({ node_uuid }: Target) => node_uuid === node)).toMatchObject({ ...expected.target, run: null });
  expect(targets.map(({ state }: Target) => state)).toContain('done');
});

describe('a private runbook of the project', () => {
  const ours = async (name: string) => {
    const steps = [{ interface: 'power', step: 'reboot', args: {}, order: 1 }];
    await world.posted('owner-manager', '/v1/runbooks', { name, steps });
    return halfDone({ traits: [name] }, name);
  };
  const nextOf = async (rollout: Rollout, node: string) => {
    await look(rollout);
    return (await world.targets(rollout)).find(({ node_uuid }: Target) => node_uuid === node);
  };

  test('that an operator publishes goes on running for the project that wrote it', async () => {
    const { rollout, node } = await ours('CUSTOM_OURS');
    await patchRunbook('CUSTOM_OURS', '/public', true);
    expect(await nextOf(rollout, node)).toMatchObject({ state: 'admitted' });
  });

  test('that is the private one of another project by now is begun on no node of the first', async () => {
    const { rollout, node } = await ours('CUSTOM_THEIRS');
    await patchRunbook('CUSTOM_THEIRS', '/owner', stranger);
    expect(await nextOf(rollout, node)).toMatchObject(skipped('rule', 'baremetal:runbook:get'));
  });
});

test('a runbook that changes between the look at it and the acceptance begins nothing in that look', async () => {
  await world.runbook('CUSTOM_MEANWHILE');
  const { rollout, node } = await halfDone({ traits: ['CUSTOM_MEANWHILE'] }, 'CUSTOM_MEANWHILE');
  const { runs } = world.deps;
  const start: typeof runs.start = async (order, before) => {
    await patchRunbook('CUSTOM_MEANWHILE', '/public', false);
    return runs.start(order, before);
  };
  const targetNow = async () => (await world.targets(rollout)).find(({ node_uuid }: Target) => node_uuid === node);
  await world.tend(rollout, { authority, runs: { ...runs, start } });
  expect(await targetNow()).toMatchObject({ ...untouched, run: null });
  await look(rollout);
  expect(await targetNow()).toMatchObject(skipped('rule', 'baremetal:runbook:get'));
});

test('operators take a revision of a deleted runbook out of use, and nobody else finds it', async () => {
  const { uuid } = await world.runbook('CUSTOM_DANGEROUS');
  await must('DELETE', `/v1/runbooks/${uuid}`);
  const withdraw = `/temper/v1/runbooks/${uuid}/revisions/1/withdraw`;
  const by = async (who: 'operator' | 'owner-manager' | 'stranger-admin') =>
    (await world.api.as(who, 'POST', withdraw, { body: { reason: 'it bricks' } })).status;
  expect([await by('owner-manager'), await by('stranger-admin')]).toEqual([404, 404]);
  expect([await by('operator'), await by('operator')]).toEqual([200, 409]);
});

describe('an approval', () => {
  const approve = 'role:manager and not user_id:%(rollout.requester)s';
  const asked = { 'temper:rollout:start_alone': '!', 'temper:rollout:approve': approve };
  const approved = async () => {
    inForce(asked);
    const rollout: Rollout = await world.plan({ select: { nodes: await world.nodes(['r1']) } });
    const { plan_hash } = rollout;
    const voted = await world.act(rollout, 'approve', { plan_hash }, 'operator');
    expect(voted.body).toMatchObject({ approved: 1, wanted: 1 });
    return rollout;
  };
  const begin = ({ uuid, plan_hash }: Rollout) => world.act({ uuid }, 'start', { plan_hash });

  test.each<[string, (rollout: Rollout) => unknown]>([
    ['by a line of the policy', () => inForce({ ...asked, 'temper:rollout:approve': '!' })],
    ['by the approver', ({ uuid, plan_hash }) => world.act({ uuid }, 'reject', { plan_hash }, 'operator')],
    ['by a plan that is made anew', (rollout) => world.act(rollout, 'replan')],
  ])('that is withdrawn %s starts nothing', async (_, withdraw) => {
    const rollout = await approved();
    await withdraw(rollout);
    const plan_hash = (await world.show(rollout)).plan_hash as string;
    const refused = await begin({ ...rollout, plan_hash });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('0 of 1')]);
    await look(rollout);
    expect((await world.show(rollout)).states).toEqual({ pending: 1 });
  });

  test('that stands starts it', async () => {
    expect((await begin(await approved())).status).toBe(200);
  });
});
