/** The interpreter on effects of its own: every way a step can go, without an engine. */

import { planSteps } from '../../src/model/lifecycle/plan-steps';
import type { GivenStep } from '../../src/model/lifecycle/step-types';
import { Aborted, type DecisionKind, type Effects, FailedByPerson } from '../../src/workflows/effects-contract';
import { runSteps } from '../../src/workflows/interpreter';
import { Failed, recording, Unknown } from './support';

const plan = (...names: (string | [string, Record<string, unknown>])[]) =>
  planSteps(
    names.map((name): GivenStep => {
      const [of, args] = Array.isArray(name) ? name : [name, undefined];
      const [group, step] = of.split('.') as [GivenStep['interface'], string];
      return { interface: group, step, ...(args && { args }) };
    }),
    'service',
    { driver: 'redfish' },
  );

test('acts of a step run in order, one after another', async () => {
  const { told, effects } = recording();
  await runSteps(plan('power.reboot', 'management.reset_bmc'), effects);
  expect(told).toEqual(['at 0 running', 'act power_off', 'act power_on', 'at 1 running', 'act reset_bmc']);
});

test('an act that finds nothing to do ends its step', async () => {
  const { told, effects } = recording();
  const act = effects.act;
  await runSteps(plan(['bios.apply_configuration', { settings: [{ name: 'a', value: 1 }] }], 'power.power_on'), {
    ...effects,
    act: async (step, index) => ({
      ...(await act(step, index)),
      ...(step.acts[index]!.act === 'stage_bios' && { rest: 'skip' }),
    }),
  });
  expect(told.filter((line) => line.startsWith('act'))).toEqual(['act stage_bios', 'act power_on']);
});

test('a wait sits in the wait state until its time is over', async () => {
  const { told, effects } = recording();
  await runSteps(plan(['power.wait', { seconds: 7 }]), effects);
  expect(told).toEqual([
    'at 0 running',
    'at 0 waiting',
    'mark 0 waiting',
    'move wait',
    'sleep 7000',
    'at 0 running',
    'move resume',
    'mark 0 done',
  ]);
});

test('a hold goes on at once where its work does, in the active state', async () => {
  const { told, effects } = recording();
  await runSteps(plan('power.hold'), effects);
  expect(told).toEqual([
    'at 0 running',
    'at 0 waiting',
    'mark 0 waiting',
    'move hold',
    'unheld',
    'at 0 running',
    'move unhold',
    'move resume',
    'mark 0 done',
  ]);
});

test('an abort takes effect between two steps', async () => {
  let asked = false;
  const { told, effects } = recording({ abortAsked: () => asked });
  const act = effects.act;
  const running = runSteps(plan('power.power_off', 'power.power_on'), {
    ...effects,
    act: async (step, index) => {
      asked = true;
      return act(step, index);
    },
  });
  await expect(running).rejects.toBeInstanceOf(Aborted);
  expect(told).toEqual(['at 0 running', 'act power_off']);
});

describe('a step whose effect cannot be known', () => {
  const parkOnce = (decision: DecisionKind) => {
    const { told, effects } = recording({ decided: async () => ({ kind: decision }) });
    const act = effects.act;
    let first = true;
    return {
      told,
      effects: {
        ...effects,
        act: async (step, index) => {
          const outcome = await act(step, index);
          if (first && step.step !== 'power_on') {
            first = false;
            throw new Unknown('not known');
          }
          return outcome;
        },
      } satisfies Effects,
    };
  };

  test('parks in the wait state and is repeated when a person says so', async () => {
    const { told, effects } = parkOnce('retry');
    await runSteps(plan('management.reset_bmc'), effects);
    expect(told).toEqual([
      'at 0 running',
      'act reset_bmc',
      'at 0 parked',
      'mark 0 parked',
      'move wait',
      'at 0 running',
      'move resume',
      'again 0',
      'act reset_bmc',
    ]);
  });

  test('is left behind when a person skips it', async () => {
    const { told, effects } = parkOnce('skip');
    await runSteps(plan('management.reset_bmc', 'power.power_on'), effects);
    expect(told.slice(-3)).toEqual(['mark 0 skipped', 'at 1 running', 'act power_on']);
  });

  test('fails the run when a person says so', async () => {
    await expect(runSteps(plan('management.reset_bmc'), parkOnce('fail').effects)).rejects.toBeInstanceOf(
      FailedByPerson,
    );
  });

  test('fails the run where its row does not let it park', async () => {
    const { effects, told } = parkOnce('retry');
    await expect(runSteps(plan('power.power_off'), effects)).rejects.toBeInstanceOf(Unknown);
    expect(told).not.toContain('at 0 parked');
  });
});

describe('a step that fails for a known reason', () => {
  const failing = (on_failure: 'fail' | 'park' | 'continue', decision: DecisionKind = 'retry') => {
    const { told, effects } = recording({ decided: async () => ({ kind: decision }) });
    const act = effects.act;
    let first = true;
    const steps = planSteps(
      [
        { interface: 'power', step: 'power_off', temper: { on_failure } },
        { interface: 'power', step: 'power_on' },
      ],
      'service',
      { driver: 'redfish' },
    );
    const acting: Effects = {
      ...effects,
      act: async (step, index) => {
        const outcome = await act(step, index);
        if (first) {
          first = false;
          throw new Failed('refused');
        }
        return outcome;
      },
    };
    return { told, run: () => runSteps(steps, acting) };
  };

  test('ends the run by default', async () => {
    const { told, run } = failing('fail');
    await expect(run()).rejects.toBeInstanceOf(Failed);
    expect(told).toEqual(['at 0 running', 'act power_off']);
  });

  test('is left behind as failed where the step says continue', async () => {
    const { told, run } = failing('continue');
    await run();
    expect(told).toEqual(['at 0 running', 'act power_off', 'mark 0 failed', 'at 1 running', 'act power_on']);
  });

  test('waits for a person where the step says park', async () => {
    const { told, run } = failing('park');
    await run();
    expect(told).toEqual([
      'at 0 running',
      'act power_off',
      'at 0 parked',
      'mark 0 parked',
      'move wait',
      'at 0 running',
      'move resume',
      'again 0',
      'act power_off',
      'at 1 running',
      'act power_on',
    ]);
  });
});

test('a paused run stops before its next step', async () => {
  const told: string[] = [];
  const { effects } = recording();
  await runSteps(plan('power.power_off', 'power.power_on'), {
    ...effects,
    unpaused: async (step) => void told.push(`asked before ${step.index}`),
    act: async (step) => {
      told.push(`act ${step.index}`);
      return { is: 'done' };
    },
  });
  expect(told).toEqual(['asked before 0', 'act 0', 'asked before 1', 'act 1']);
});
