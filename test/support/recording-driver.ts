/** A driver whose acts only write down that they were called; single acts may be replaced. */
import type { Act, Driver } from '../../src/bmc/contract';
import type { GivenStep } from '../../src/model/lifecycle/step-types';
import { type ActName, acts } from '../../src/model/lifecycle/steps';

export type ActsOver = Partial<Record<ActName, Act>>;

export const recordingDriver = (over: ActsOver = {}): { driver: Driver; calls: string[] } => {
  const calls: string[] = [];
  const entries = (Object.keys(acts) as ActName[]).map((name): [ActName, Act] => [
    name,
    async (node, args, context) => {
      calls.push(name);
      return over[name] ? over[name](node, args, context) : { is: 'done' };
    },
  ]);
  const driver = {
    name: 'fake-hardware',
    laneKey: () => null,
    acts: Object.fromEntries(entries),
    close: async () => {},
  };
  return { calls, driver };
};

/** A step as a caller writes it: `interface.step` and arguments. */
export const step = (of: string, args?: Record<string, unknown>): GivenStep => {
  const [group, name] = of.split('.') as [GivenStep['interface'], string];
  return { interface: group, step: name, ...(args && { args }) };
};
