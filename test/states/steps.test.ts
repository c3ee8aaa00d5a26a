/** The step table and what is checked of a caller's list before anything is touched. */
import { isTemperError } from '../../src/model/errors';
import { planSteps } from '../../src/model/lifecycle/plan-steps';
import type { GivenStep, ReportedStep } from '../../src/model/lifecycle/step-types';
import { acts, automaticSteps, maxSteps, reservedSteps, steps, stepsOf } from '../../src/model/lifecycle/steps';

const refusal = (work: () => unknown): { code: string; says: string } => {
  try {
    work();
  } catch (thrown) {
    if (isTemperError(thrown)) return { code: thrown.code, says: thrown.message };
    throw thrown;
  }
  throw new Error('was accepted');
};
const given = (of: string, args?: Record<string, unknown>, order?: number): GivenStep => {
  const [group, step] = of.split('.') as [GivenStep['interface'], string];
  return { interface: group, step, ...(args && { args }), ...(order !== undefined && { order }) };
};

describe('the step table', () => {
  test('names each step of a driver once', () => {
    // Several implementations of one interface may offer it; a node has one of them.
    const keys = steps.flatMap((row) =>
      row.drivers.flatMap((driver) =>
        (row.implementations ?? ['any']).map((by) => `${driver} ${row.interface}.${row.step} by ${by}`),
      ),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  test.each(steps.map((row) => [`${row.interface}.${row.step}`, row] as const))(
    '%s consists of known acts',
    (_, row) => {
      expect(row.acts.length).toBeGreaterThan(0);
      for (const act of row.acts) expect(Object.keys(acts)).toContain(act);
    },
  );

  test.each(steps.map((row) => [`${row.interface}.${row.step}`, row] as const))(
    '%s parks exactly when one of its acts must not happen twice',
    (_, row) => {
      expect(row.parks).toBe(row.acts.some((act) => acts[act].effect === 'once'));
    },
  );

  test('never parks for power, boot, BIOS and virtual media: they look and converge', () => {
    const settled = /^bios\.|_boot_(device|mode)$|virtual_media$|indicator$/;
    const rows = steps.filter((row) => settled.test(`${row.interface}.${row.step}`));
    expect(rows.length).toBeGreaterThanOrEqual(7);
    expect(rows.filter((row) => row.parks)).toEqual([]);
  });

  test('fake-hardware has one automatic step, redfish none', () => {
    expect(automaticSteps({ driver: 'fake-hardware' })).toEqual([{ interface: 'vendor', step: 'log_passthrough' }]);
    expect(automaticSteps({ driver: 'redfish' })).toEqual([]);
  });
});

describe('a list of steps', () => {
  test('runs by order, then by position', () => {
    const planned = planSteps(
      [
        given('power.reboot', {}, 2),
        given('management.set_boot_mode', { boot_mode: 'uefi' }, 1),
        given('power.power_off', {}, 1),
      ],
      'clean',
      { driver: 'redfish' },
    );
    expect(planned.map(({ step }) => step)).toEqual(['set_boot_mode', 'power_off', 'reboot']);
    expect(planned.map(({ index }) => index)).toEqual([0, 1, 2]);
  });

  test('keeps every reserved step, whatever interface carries it', () => {
    const names = Object.keys(reservedSteps);
    const planned = planSteps(
      names.map((name) => given(`deploy.${name}`, name === 'wait' ? { seconds: 5 } : {})),
      'service',
      { driver: 'redfish' },
    );
    expect(planned.map(({ step }) => step)).toEqual(names);
  });

  test.each([
    ['an unknown step', given('bios.dance'), 'InvalidSteps', /bios\.dance.*it has: bios\.apply_configuration/],
    [
      'a step that needs the ramdisk',
      given('deploy.erase_devices'),
      'RamdiskNeeded',
      /deploy\.erase_devices runs in the ramdisk/,
    ],
    [
      'a step for another verb',
      given('management.clear_secure_boot_keys'),
      'InvalidSteps',
      /cannot be used with service, only with clean/,
    ],
    ['a missing argument', given('management.set_boot_mode'), 'InvalidStepArgs', /argument boot_mode is missing/],
    [
      'an unknown argument',
      given('management.reset_bmc', { force: true }),
      'InvalidStepArgs',
      /unexpected argument force; known are: none/,
    ],
    [
      'a wrong choice',
      given('management.set_boot_mode', { boot_mode: 'csm' }),
      'InvalidStepArgs',
      /must be one of bios, uefi, got "csm"/,
    ],
    [
      'a wrong type',
      given('management.set_secure_boot', { enabled: 'yes' }),
      'InvalidStepArgs',
      /must be true or false/,
    ],
    [
      'settings that are no list of pairs',
      given('bios.apply_configuration', { settings: [{ name: 'a', valeu: 1 }] }),
      'InvalidStepArgs',
      /list of \{name, value\}/,
    ],
    ['a wait of no length', given('power.wait', { seconds: 0 }), 'InvalidStepArgs', /between 1 and 86400/],
  ])('is refused with %s, saying which step and why', (_, step, code, says) => {
    const refused = refusal(() => planSteps([step], 'service', { driver: 'redfish', deploy_interface: 'noop' }));
    expect(refused.code).toBe(code);
    expect(refused.says).toMatch(says);
  });

  test(`is refused beyond ${maxSteps} steps`, () => {
    const many = Array.from({ length: maxSteps + 1 }, () => given('power.power_on'));
    expect(refusal(() => planSteps(many, 'clean', { driver: 'redfish' })).code).toBe('InvalidSteps');
  });
});

describe('a step that the node does not offer', () => {
  test.each([
    [
      'by its interface',
      'raid.create_configuration',
      { driver: 'redfish', raid_interface: 'no-raid' },
      'InvalidSteps',
      /needs another raid_interface than no-raid: redfish or fake or agent/,
    ],
    [
      'by its deploy interface',
      'raid.create_configuration',
      { driver: 'ipmi', deploy_interface: 'noop' },
      'RamdiskNeeded',
      /which deploy interface noop does not boot/,
    ],
    ['by its driver', 'bios.factory_reset', { driver: 'ipmi' }, 'InvalidSteps', /Driver ipmi has no step/],
    ['by a driver that no worker has', 'power.sing', { driver: 'gone' }, 'InvalidSteps', /Driver gone has no step/],
  ] as const)('%s is refused with what would help', (_, step, node, code, says) => {
    const refused = refusal(() => planSteps([given(step)], 'clean', node));
    expect(refused.code).toBe(code);
    expect(refused.says).toMatch(says);
  });
});

describe('steps that a ramdisk reported', () => {
  const reported_steps: readonly ReportedStep[] = [
    { interface: 'deploy', step: 'tune', priority: 5, argsinfo: { profile: { required: true } } },
    { interface: 'deploy', step: 'erase_devices', priority: 5, argsinfo: { everything: { required: true } } },
    { interface: 'magic', step: 'x', priority: 5 },
  ];
  const node = { driver: 'redfish', reported_steps };

  test('can be planned as acts of the ramdisk, which must not happen twice and may park', () => {
    for (const verb of ['clean', 'service', 'deploy'] as const)
      expect(planSteps([given('deploy.tune', { profile: 'fast' })], verb, node)).toEqual([
        expect.objectContaining({
          step: 'tune',
          args: { profile: 'fast' },
          acts: [{ act: 'agent_step', effect: 'once' }],
          parks: true,
          abortable: false,
        }),
      ]);
  });

  test.each([
    [given('deploy.tune'), /argument profile is missing/],
    [given('deploy.tune', { profile: 1, more: 2 }), /unexpected argument more; known are: profile/],
  ])('are refused with arguments that do not fit', (step, says) => {
    const refused = refusal(() => planSteps([step], 'clean', node));
    expect([refused.code, refused.says]).toEqual(['InvalidStepArgs', expect.stringMatching(says)]);
  });

  test('change nothing of what the catalogue has, and are none where the ramdisk is not booted', () => {
    expect(planSteps([given('deploy.erase_devices')], 'clean', node)).toHaveLength(1);
    expect(stepsOf(node).filter(({ step }) => step === 'x' || step === 'erase_devices')).toHaveLength(1);
    const names = stepsOf({ ...node, deploy_interface: 'noop' }).map(({ step }) => step);
    expect(names).not.toContain('tune');
    expect(automaticSteps(node)).toEqual([]);
  });
});
