/** Steps that need the ramdisk: when it is waited for, when it is booted again, and how its own steps join the plan. */
import { Aborted, type Effects } from '../../src/workflows/effects-contract';
import { runSteps } from '../../src/workflows/interpreter';
import { boot, Failed, recording, stepAt, throwingFirst } from './support';

const inBand = (index: number) => stepAt(index, ['log', 'agent_step']);
/** What is done to boot the ramdisk again on behalf of a step. */
const bootedFor = (index: number) => ['act power_off', 'act power_on', `contacted ${index} heartbeat`];

test('a step that awaits the ramdisk is done when it has called back', async () => {
  const { told, effects } = recording({ boot });
  await runSteps([boot, inBand(1)], effects);
  expect(told).toEqual(['at 0 running', ...bootedFor(0), 'at 1 running', 'act log', 'act agent_step']);
});

test('a ramdisk that the store has lost is booted again, as often as that happens, and then waited for again', async () => {
  let lost = 2;
  const { told, effects } = recording({
    boot,
    async contacted(step, awaits) {
      told.push(`contacted ${step.index} ${awaits}`);
      return lost-- > 0 ? 'lost' : undefined;
    },
  });
  await runSteps([boot, inBand(1)], effects);
  expect(told).toEqual([
    'at 0 running',
    ...bootedFor(0),
    'move resume',
    ...bootedFor(0),
    'move resume',
    ...bootedFor(0),
    'at 1 running',
    'act log',
    'act agent_step',
  ]);
});

test('a step that finds nothing to do awaits nothing', async () => {
  const { told, effects } = recording({ act: async () => ({ is: 'done', rest: 'skip' }) });
  await runSteps([boot], effects);
  expect(told).toEqual(['at 0 running']);
});

test('what happens to the node before a step comes before its first act', async () => {
  const { told, effects } = recording();
  await runSteps([stepAt(0, ['log'], { event: 'resume' }), stepAt(1, ['log'])], effects);
  expect(told).toEqual(['at 0 running', 'move resume', 'act log', 'at 1 running', 'act log']);
});

describe('a step that restarts the node', () => {
  const restart = stepAt(1, ['power_off', 'power_on']);
  const acts = ['at 1 running', 'act power_off', 'act power_on'];
  const trace = async (steps: Parameters<typeof runSteps>[0], over: Parameters<typeof recording>[0] = { boot }) => {
    const { told, effects } = recording(over);
    await runSteps(steps, effects);
    return told;
  };

  test('is followed by a boot of the ramdisk where any later step needs it', async () => {
    expect(await trace([boot, restart, stepAt(2, ['log']), inBand(3)])).toEqual([
      'at 0 running',
      ...bootedFor(0),
      ...acts,
      ...bootedFor(1),
      'at 2 running',
      'act log',
      'at 3 running',
      'act log',
      'act agent_step',
    ]);
  });

  test('is followed by none where only steps before it needed the ramdisk', async () => {
    const told = await trace([stepAt(0, ['agent_step']), restart, stepAt(2, ['log'])], { boot });
    expect(told).toEqual(['at 0 running', 'act agent_step', ...acts, 'at 2 running', 'act log']);
  });

  test('is followed by none where the ramdisk has not been booted yet', async () => {
    const late = { ...boot, index: 2 };
    expect(await trace([restart, late, inBand(3)], { boot: late })).toEqual([
      ...acts,
      'at 2 running',
      ...bootedFor(2),
      'at 3 running',
      'act log',
      'act agent_step',
    ]);
  });

  test('is followed by none where it is itself the boot', async () => {
    const { awaits, ...bare } = boot;
    expect(await trace([bare, inBand(1)], { boot: bare })).not.toContain('contacted 0 heartbeat');
  });

  test('is followed by none where it awaits the ramdisk by itself', async () => {
    const told = await trace([boot, { ...restart, awaits: 'heartbeat' }, inBand(2)]);
    expect(told.filter((line) => line === 'contacted 1 heartbeat')).toHaveLength(1);
  });

  test('is followed by none in a run that knows no way to boot one', async () => {
    expect(await trace([restart, inBand(2)], {})).toEqual([...acts, 'at 2 running', 'act log', 'act agent_step']);
  });

  test('a step that does not restart it is followed by none', async () => {
    const told = await trace([boot, stepAt(1, ['set_boot_device']), inBand(2)]);
    expect(told).not.toContain('contacted 1 heartbeat');
  });
});

describe('a step that asks for a restart', () => {
  const asking = (over: Parameters<typeof recording>[0]) => {
    const { told, effects } = recording(over);
    const act: typeof effects.act = async (step, index) => ({
      ...(await effects.act(step, index)),
      ...(step.acts[index]!.act === 'agent_step' && { follows: 'reboot' as const }),
    });
    return { told, effects: { ...effects, act } };
  };

  test('is done when the ramdisk is back, in a boot that no abort cuts short', async () => {
    const scopes: boolean[] = [];
    const { told, effects } = asking({
      boot,
      scoped: (abortable, work) => {
        scopes.push(abortable);
        return work();
      },
    });
    await runSteps([stepAt(1, ['agent_step'], { abortable: true, awaits: 'heartbeat' })], effects);
    expect(told).toEqual(['at 1 running', 'act agent_step', ...bootedFor(1)]);
    expect(scopes).toEqual([true, false]);
  });

  test('goes on without where the run knows no way to boot one', async () => {
    const { told, effects } = asking({});
    await runSteps([stepAt(1, ['agent_step'])], effects);
    expect(told).toEqual(['at 1 running', 'act agent_step']);
  });

  test('of other steps none is followed by a boot', async () => {
    const { told, effects } = asking({ boot });
    await runSteps([stepAt(1, ['log'])], effects);
    expect(told).toEqual(['at 1 running', 'act log']);
  });
});

test('steps that the ramdisk has of its own take the place of the rest of the plan', async () => {
  const reported = [{ interface: 'deploy', step: 'erase_devices', priority: 10 }] as const;
  const joined: unknown[] = [];
  const { told, effects } = recording({
    join: async (...args) => {
      joined.push(args);
      return [stepAt(2, ['agent_step']), stepAt(3, ['log'])];
    },
  });
  const plan = [stepAt(0, ['power_on']), stepAt(1, ['agent_steps']), stepAt(2, ['verify']), stepAt(3, ['reset_bmc'])];
  const act: typeof effects.act = async (step, index) => ({
    ...(await effects.act(step, index)),
    ...(step.index === 1 && { reported }),
  });
  await runSteps(plan, { ...effects, act });
  expect(joined).toEqual([[plan[1], plan.slice(2), reported]]);
  expect(told.filter((line) => line.startsWith('act'))).toEqual([
    'act power_on',
    'act agent_steps',
    'act agent_step',
    'act log',
  ]);
});

describe('an act that lost its ramdisk', () => {
  const lost = new Failed('the ramdisk is gone');
  const losing = (over: Parameters<typeof recording>[0] = {}) =>
    recording({ boot, startsOver: (thrown) => thrown === lost, ...over });
  const write = stepAt(1, ['agent_write_image']);

  test('starts over in a ramdisk that is booted again', async () => {
    const made = losing();
    await runSteps([write], throwingFirst(made, lost));
    expect(made.told).toEqual(['at 1 running', 'act agent_write_image', ...bootedFor(1), 'act agent_write_image']);
  });

  test('starts over once: the second loss ends the run', async () => {
    const made = losing();
    const { act } = made.effects;
    const effects = {
      ...made.effects,
      act: async (...[step, index]: Parameters<typeof act>) => {
        const outcome = await act(step, index);
        if (step.acts[index]!.act === 'agent_write_image') throw lost;
        return outcome;
      },
    };
    await expect(runSteps([write], effects)).rejects.toBe(lost);
    expect(made.told.filter((line) => line === 'act agent_write_image')).toHaveLength(2);
  });

  test('starts over still after a freeze was waited out', async () => {
    const frozen = new Failed('frozen');
    const made = losing({ isFrozen: (thrown) => thrown === frozen });
    await runSteps([write], throwingFirst(made, frozen, lost));
    expect(made.told).toEqual([
      'at 1 running',
      'act agent_write_image',
      'thawed 1',
      'act agent_write_image',
      ...bootedFor(1),
      'act agent_write_image',
    ]);
  });

  test.each([
    ['where no ramdisk can be booted', { boot: undefined }],
    ['where its row does not allow it', { startsOver: () => false }],
  ])('ends the run %s', async (_, over) => {
    const made = losing(over);
    await expect(runSteps([write], throwingFirst(made, lost))).rejects.toBe(lost);
    expect(made.told).toEqual(['at 1 running', 'act agent_write_image']);
  });
});

describe('the node rests in its wait state while the ramdisk works', () => {
  const write = stepAt(1, ['agent_write_image']);
  const rested = (over: Partial<Effects> = {}) =>
    recording({ boot, restsIn: (step, index) => step.acts[index]!.act === 'agent_write_image', ...over });

  test('and is at work again before what comes next', async () => {
    const made = rested();
    await runSteps([write], made.effects);
    expect(made.told).toEqual(['at 1 running', 'move wait', 'act agent_write_image', 'move resume']);
  });

  test('also where the work failed', async () => {
    const fault = new Failed('no disk');
    const made = rested();
    await expect(runSteps([write], throwingFirst(made, fault))).rejects.toBe(fault);
    expect(made.told.slice(-3)).toEqual(['move wait', 'act agent_write_image', 'move resume']);
  });

  test('a run that ends with the work ends from there', async () => {
    const made = rested();
    await expect(runSteps([write], throwingFirst(made, new Aborted()))).rejects.toBeInstanceOf(Aborted);
    expect(made.told.at(-1)).toBe('act agent_write_image');
  });

  test('another ramdisk is booted at work, and the wait begins anew with the act', async () => {
    const lost = new Failed('gone');
    const made = rested({ startsOver: (thrown) => thrown === lost });
    await runSteps([write], throwingFirst(made, lost));
    const act = ['move wait', 'act agent_write_image', 'move resume'];
    expect(made.told.filter((line) => /^move|write_image$/.test(line))).toEqual([...act, ...act]);
  });
});
