/** The story of the product, told on a running system through its public API, as the people who use it. */
import { crashChapter } from './crash';
import { ask, enrol, powerOn, rests, set } from './nodes';
import { rolloutChapter } from './rollout';
import { rackOf, readSystem, type Scene, signIn } from './system';
import type { Teller } from './tell';

const ownRunbook = 'CUSTOM_UEFI';
const publicRunbook = 'CUSTOM_FRESH_START';

/** Tells it all. @returns whether every claim held */
export const tellStory = async (systemFile: string, teller: Teller): Promise<boolean> => {
  const system = readSystem(systemFile);
  const [operator, ownerManager, owner, lessee, stranger] = await Promise.all(
    ['operator', 'owner-manager', 'owner', 'lessee', 'stranger'].map((cloud) => signIn(system, cloud)),
  );
  const rack = rackOf(system);
  const names = (await rack.bmcs()).map(({ name }) => name);
  const scene: Scene = {
    systemFile,
    rack,
    people: { operator: operator!, ownerManager: ownerManager!, owner: owner!, lessee: lessee!, stranger: stranger! },
    names,
  };
  await fillTheRack(scene, teller);
  await ownRunbooks(scene, teller);
  await lease(scene, teller);
  await crashChapter(scene, publicRunbook, teller);
  await refusals(scene, teller);
  await rolloutChapter(scene, teller);
  return teller.end();
};

const fillTheRack = async ({ people: { operator, owner }, rack, names }: Scene, teller: Teller): Promise<void> => {
  teller.chapter('An operator fills the data centre');
  const bmcs = await rack.bmcs();
  for (const bmc of bmcs) await enrol(operator, bmc);
  teller.says('operator', `enrols ${bmcs.length} nodes of ${new Set(bmcs.map(({ profile }) => profile)).size} vendors`);
  const owned = names.slice(0, 4);
  for (const name of owned) await set(operator, name, { owner: owner.project });
  teller.says('operator', `gives ${owned.join(', ')} to the owner's project`);
  await Promise.all(names.map((name) => ask(operator, name, 'manage')));
  await Promise.all(names.map((name) => rests(operator, name, 'manageable')));
  teller.says('operator', 'verifies all: each BMC answers and accepts its credentials');
  const free = names.slice(4, 6);
  await Promise.all(free.map((name) => ask(operator, name, 'provide')));
  await Promise.all(free.map((name) => rests(operator, name, 'available')));
  teller.says('operator', `cleans ${free.join(' and ')} to available`);
  const used = names.slice(0, 2);
  await Promise.all(used.map((name) => ask(operator, name, 'adopt')));
  await Promise.all(used.map((name) => rests(operator, name, 'active')));
  await Promise.all(used.map((name) => powerOn(operator, name)));
  teller.says('operator', `takes ${used.join(' and ')} in use as they stand (active) and powers them on`);
  teller.claim(
    'enrol, verify, clean, adopt',
    true,
    `${names.length} verified, ${free.length} available, ${used.length} active`,
  );
};

const ownRunbooks = async (
  { people: { operator, ownerManager, owner }, names }: Scene,
  teller: Teller,
): Promise<void> => {
  teller.chapter('The owner helps itself');
  await ownerManager.must('POST', '/v1/runbooks', {
    name: ownRunbook,
    description: 'Boot mode UEFI, light on',
    steps: [
      { interface: 'management', step: 'set_boot_mode', args: { boot_mode: 'uefi' }, order: 1 },
      { interface: 'management', step: 'set_indicator', args: { state: 'blinking' }, order: 2 },
    ],
  });
  await ownerManager.must('PUT', `/v1/runbooks/${ownRunbook}/traits/${ownRunbook}`);
  teller.says('owner-manager', `writes runbook ${ownRunbook}; it belongs to its project`);
  const node = names[2]!;
  await operator.must('PUT', `/v1/nodes/${node}/traits/${ownRunbook}`);
  teller.says('operator', `approves it for ${node} with a trait`);
  await ask(owner, node, 'clean', { runbook: ownRunbook });
  await rests(owner, node, 'manageable');
  teller.says('owner', `a member of the project cleans ${node} with it`);
  teller.claim('a member runs its project’s runbook', true, `${node} cleaned with ${ownRunbook}`);
  await operator.must('POST', '/v1/runbooks', {
    name: publicRunbook,
    description: 'Boot from disk, restart, light on',
    public: true,
    steps: [
      { interface: 'management', step: 'set_boot_device', args: { boot_device: 'disk' }, order: 1 },
      { interface: 'power', step: 'reboot', order: 2 },
      { interface: 'management', step: 'set_indicator', args: { state: 'blinking' }, order: 3 },
    ],
  });
  await operator.must('PUT', `/v1/runbooks/${publicRunbook}/traits/${publicRunbook}`);
  teller.says('operator', `makes another runbook public: ${publicRunbook}`);
};

const lease = async ({ people: { operator, lessee }, names }: Scene, teller: Teller): Promise<void> => {
  teller.chapter('A node is leased');
  const node = names[0]!;
  await set(operator, node, { lessee: lessee.project });
  await operator.must('PUT', `/v1/nodes/${node}/traits/${publicRunbook}`);
  teller.says('operator', `leases ${node}, which is in use, to the lessee's project`);
  const { nodes } = await lessee.must('GET', '/v1/nodes');
  const seen = nodes.map(({ name }: { name: string }) => name);
  teller.claim(
    'a lessee sees exactly its node',
    seen.length === 1 && seen[0] === node,
    `lists ${seen.join(', ') || 'nothing'} of ${names.length}`,
  );
};

const refusals = async ({ people: { lessee, stranger, owner }, names }: Scene, teller: Teller): Promise<void> => {
  teller.chapter('What the policy refuses');
  const [leased, , owned] = names as [string, string, string];
  const tries = [
    {
      who: stranger,
      method: 'GET',
      path: `/v1/nodes/${leased}`,
      wants: 404,
      claim: 'a stranger gets 404, admin or not',
    },
    {
      who: lessee,
      method: 'PUT',
      path: `/v1/nodes/${leased}/states/provision`,
      body: { target: 'service', service_steps: [{ interface: 'power', step: 'reboot' }] },
      wants: 403,
      claim: 'raw steps are not for members',
    },
    {
      who: lessee,
      method: 'PUT',
      path: `/v1/nodes/${leased}/states/provision`,
      body: { target: 'rebuild' },
      wants: 403,
      claim: 'nor is any other verb',
    },
    {
      who: owner,
      method: 'PUT',
      path: `/v1/nodes/${owned}/states/provision`,
      body: { target: 'clean', runbook: publicRunbook },
      wants: 400,
      claim: 'no runbook without its trait',
    },
  ];
  for (const { who, method, path, body, wants, claim } of tries) {
    const { status, says } = await who.ask(method, path, body);
    teller.claim(claim, status === wants, `${status} ${says}`);
  }
};
