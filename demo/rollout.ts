/** The chapter in which an owner rolls BIOS settings out over its nodes: a tenant names its hours, a BMC refuses, the budget stops it, it goes on. */
import { ask, powerOn, rests, until } from './nodes';
import { type Json, type Person, readSystem, type Scene, signIn } from './system';
import type { Teller } from './tell';

const runbook = 'CUSTOM_BIOS';
const within = 180_000;
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** One setting, by the name that each vendor has for it. */
const dell = [{ name: 'SriovGlobalEnable', value: 'Enabled' }];
const settings = {
  dell,
  'dell inc.': dell,
  hpe: [{ name: 'Sriov', value: 'Disabled' }],
  lenovo: [{ name: 'DevicesandIOPorts_SRIOV', value: 'Disable' }],
  default: [{ name: 'BootMode', value: 'Legacy' }],
};

/** Takes a node in use as it stands, powered on. */
const takeInUse = async (operator: Person, name: string): Promise<void> => {
  await ask(operator, name, 'adopt');
  await rests(operator, name, 'active');
  await powerOn(operator, name);
};

const writeRunbook = async (ownerManager: Person): Promise<void> => {
  await ownerManager.must('POST', '/v1/runbooks', {
    name: runbook,
    description: 'One BIOS setting, as each vendor calls it',
    steps: [
      { interface: 'bios', step: 'apply_configuration', args: { settings: { $by: 'vendor', ...settings } }, order: 1 },
    ],
  });
  await ownerManager.must('PUT', `/v1/runbooks/${runbook}/traits/${runbook}`);
};

/** The owner's nodes are put in use, each approved for the runbook. */
const prepare = async ({ people: { operator, ownerManager }, names }: Scene): Promise<readonly string[]> => {
  const used = names.slice(0, 3);
  await Promise.all([writeRunbook(ownerManager), ...used.slice(2).map((name) => takeInUse(operator, name))]);
  for (const name of used) await operator.must('PUT', `/v1/nodes/${name}/traits/${runbook}`);
  return used;
};

const reaches = (person: Person, path: string, what: string, holds: (rollout: Json) => boolean): Promise<Json> =>
  until(`the rollout to be ${what}`, within, async () => {
    const rollout = await person.must('GET', path);
    return holds(rollout) ? rollout : undefined;
  });

const planIt = async ({ people: { ownerManager } }: Scene, nodes: readonly string[], teller: Teller): Promise<Json> => {
  const plan = await ownerManager.must('POST', '/temper/v1/rollouts', {
    runbook,
    select: { nodes },
    order: 'name',
    waves: [{ size: 1, advance: 'auto' }, { rest: true }],
    budget: { total: 1 },
  });
  const { selected, will_run: runs, need_consent: consents, waves } = plan.summary;
  teller.says('owner-manager', `plans ${runbook} on ${selected} nodes: waves of ${waves.join(', ')}, a budget of 1`);
  teller.claim(
    'a plan says who is asked',
    runs === nodes.length && consents === 1,
    `${runs} would run, ${consents} needs consent; nothing was touched`,
  );
  return plan;
};

/** Its tenant lets the rollout work on the leased node in hours of its own, which have begun. */
const consent = async (scene: Scene, path: string, leased: string, teller: Teller): Promise<void> => {
  const lesseeManager = await signIn(readSystem(scene.systemFile), 'lessee-manager');
  const { targets } = await lesseeManager.must('GET', `${path}/targets`);
  teller.claim(
    'a tenant is asked, and sees its node only',
    targets.length === 1 && targets[0].node_name === leased && targets[0].run === null,
    `sees ${targets.map(({ node_name }: Json) => node_name).join(', ')}, not begun`,
  );
  const hours = { name: 'all-day', days, from: '00:00', minutes: 1_440, zone: 'UTC' };
  const window = await lesseeManager.must('POST', '/temper/v1/windows', hours);
  await lesseeManager.must('POST', `${path}/targets/${leased}/consent`, { in: window.uuid });
  teller.says('lessee-manager', `lets it work on ${leased} in the window "${hours.name}"`);
};

/** Tells it; the leased node of the scene is the first wave. */
export const rolloutChapter = async (scene: Scene, teller: Teller): Promise<void> => {
  teller.chapter('BIOS settings on many nodes, within a budget');
  const { operator, ownerManager } = scene.people;
  const nodes = await prepare(scene);
  const [leased, broken] = [nodes[0]!, nodes[1]!];
  const plan = await planIt(scene, nodes, teller);
  const path = `/temper/v1/rollouts/${plan.uuid}`;
  const act = (name: string, more: object = {}) =>
    ownerManager.must('POST', `${path}/${name}`, { reason: 'demo', ...more });
  const bmc = (await scene.rack.bmcs()).find(({ name }) => name === broken)!;
  await scene.rack.fault(bmc.index, { kind: 'bios-refused', seconds: 600 });
  teller.says('(fault)', `a setup password locks the BIOS of ${broken}`);
  await act('start', { plan_hash: plan.plan_hash });
  await reaches(ownerManager, path, 'waiting for the tenant', ({ states }) => states.asked === 1);
  await consent(scene, path, leased, teller);

  const stopped = await reaches(ownerManager, path, 'stopped', ({ state }) => state === 'paused');
  const { done, failed, pending } = stopped.states;
  teller.claim(
    'a spent budget stops the rest',
    stopped.code === 'budget_spent' && done === 1 && failed === 1 && pending === 1,
    `${stopped.code} in wave ${stopped.wave}: ${done} done, ${failed} failed, ${pending} not begun`,
  );
  await scene.rack.mend(bmc.index);
  await operator.must('DELETE', `/v1/nodes/${broken}/maintenance`);
  teller.says('operator', `has the password of ${broken} taken off and ends its maintenance`);
  await ownerManager.must('POST', `${path}/targets/${broken}/retry`, { reason: 'mended' });
  await act('resume');
  teller.says('owner-manager', `tries ${broken} again and resumes`);
  const ended = await reaches(ownerManager, path, 'over', ({ state }) => state !== 'running');
  teller.claim(
    'a mended rollout goes on to its end',
    ended.state === 'succeeded' && ended.states.done === nodes.length,
    `${ended.state}, ${ended.states.done} of ${nodes.length} done`,
  );
};
