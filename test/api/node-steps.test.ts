/** What can run on a node, as the API lists it: from the catalogue, and what only the node's own ramdisk has. */
import { faultOf } from '../support/api';
import { type Provisioning, startProvisioning } from '../support/provisioning';

let at: Provisioning;
let uuid: string;
beforeAll(async () => {
  at = await startProvisioning();
});
afterAll(() => at.api.close());
beforeEach(async () => {
  uuid = await at.fresh('manageable');
});

// biome-ignore lint/suspicious/noExplicitAny: rows of every shape
const list = async (): Promise<any[]> => (await at.api.as('operator', 'GET', '/temper/v1/nodes/n1/steps')).body.steps;
const find = async (step: string, group?: string) =>
  (await list()).find((row) => row.step === step && (group === undefined || row.interface === group));

/** A ramdisk on the node says which steps it has. */
const report = (steps: readonly object[]) => at.api.inventory.details.report(uuid as never, steps as never);

const tune = {
  interface: 'deploy',
  step: 'tune_disks',
  priority: 30,
  abortable: true,
  argsinfo: { profile: { description: 'name of the profile', required: true }, dry_run: {} },
};

test('a step says how careful it is, what it waits for, and whether the ramdisk is booted for it', async () => {
  expect(await find('update', 'firmware')).toMatchObject({
    effect: 'once',
    timeout: 'job',
    ramdisk: false,
    may_park: true,
    args: { settings: { type: 'items', required: true, of: { component: {}, url: { required: true } } } },
  });
  expect(await find('apply_configuration', 'bios')).toMatchObject({ effect: 'converge', timeout: 'start' });
  expect(await find('set_boot_device')).toMatchObject({
    effect: 'converge',
    timeout: null,
    acts: [{ act: 'set_boot_device', effect: 'converge' }],
  });
  expect(await find('erase_devices')).toMatchObject({ ramdisk: true, effect: 'once', priority: 10 });
  expect(await find('hold')).toMatchObject({ reserved: true, effect: null, acts: [] });
});

test('steps of the ramdisk are not offered where it is not booted', async () => {
  await at.set({ deploy_interface: 'noop' });
  await report([tune]);
  expect((await list()).filter(({ ramdisk }) => ramdisk)).toEqual([]);
  expect(await find('tune_disks')).toBeUndefined();
});

test('what the operator forbids is marked', async () => {
  const { settings } = at.api.rooms;
  Object.assign(settings, { disallowedSteps: ['management.reset_bmc'] });
  try {
    expect((await list()).filter(({ allowed }) => !allowed).map(({ step }) => step)).toEqual(['reset_bmc']);
  } finally {
    Object.assign(settings, { disallowedSteps: ['vendor.send_raw'] });
  }
});

describe('a step that only the node’s own ramdisk has', () => {
  const clean = (args?: object) => ({
    target: 'clean',
    clean_steps: [{ interface: 'deploy', step: 'tune_disks', args }],
  });

  test('is listed as the ramdisk describes it; what the catalogue has stays as it is there', async () => {
    await report([
      tune,
      { interface: 'deploy', step: 'erase_devices', priority: 77 },
      { interface: 'magic', step: 'x', priority: 1 },
    ]);
    expect(await find('tune_disks')).toEqual({
      interface: 'deploy',
      step: 'tune_disks',
      description: 'Offered by the ramdisk of this node.',
      verbs: ['clean', 'service', 'deploy'],
      priority: 30,
      args: {
        profile: { type: 'any', required: true, says: 'name of the profile' },
        dry_run: { type: 'any', says: 'the ramdisk does not say' },
      },
      acts: [expect.objectContaining({ act: 'agent_step', effect: 'once' })],
      effect: 'once',
      timeout: 'job',
      abortable: true,
      may_park: true,
      ramdisk: true,
      allowed: true,
      reserved: false,
    });
    const rows = await list();
    expect(rows.filter(({ step }) => step === 'erase_devices').map(({ priority }) => priority)).toEqual([10]);
    expect(rows.filter((row) => row.interface === 'magic')).toEqual([]);
  });

  test('can be run, with its arguments checked before anything is touched', async () => {
    await report([tune]);
    expect((await at.ask(clean({ profile: { a: 1 } }))).status).toBe(202);
    expect(at.api.runs.started[0]!.steps.map(({ step }) => step)).toEqual([
      'boot_ramdisk',
      'list_steps',
      'tune_disks',
      'remove_ramdisk',
    ]);
    expect(faultOf(await at.ask(clean()))).toContain('argument profile is missing (name of the profile)');
    expect(faultOf(await at.ask(clean({ profile: 1, colour: 2 })))).toContain(
      'unexpected argument colour; known are: dry_run, profile',
    );
    expect(at.asked()).toBe(1);
  });

  test('is unknown on another node, and before its ramdisk has reported it', async () => {
    const reply = await at.ask(clean({ profile: 1 }));
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('has no step deploy.tune_disks')]);
    expect(at.asked()).toBe(0);
  });

  test('can be part of a deployment, by its priority', async () => {
    await report([tune]);
    await at.set({ provision_state: 'available' });
    const deploy_steps = [{ interface: 'deploy', step: 'tune_disks', args: { profile: 'fast' }, priority: 90 }];
    expect((await at.ask({ target: 'active', deploy_steps })).status).toBe(202);
    expect(at.api.runs.started[0]!.steps.map(({ step }) => step).slice(0, 4)).toEqual([
      'deploy',
      'list_steps',
      'tune_disks',
      'write_image',
    ]);
  });
});
