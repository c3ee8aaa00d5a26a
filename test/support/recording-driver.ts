/** A driver whose acts only write down that they were called; single acts may be replaced. */
import type { Act, Driver } from '../../src/bmc/contract';
import type { GivenStep } from '../../src/model/lifecycle/step-types';
import { type ActName, acts } from '../../src/model/lifecycle/steps';
import type { World } from './engine';

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

/** The one BMC worker of a file's world, whose driver writes down its acts. */
export const bmcWorker = (world: () => World) => {
  let stopLast = async (): Promise<void> => {};
  const stop = async (): Promise<void> => {
    await stopLast();
    stopLast = async () => {};
  };
  const startWith = async (driver: Driver): Promise<void> => {
    await stop();
    stopLast = await world().bmc({ 'fake-hardware': driver });
  };
  return {
    stop,
    startWith,
    /** Starts it in place of the one before, with other acts. @returns the names of those that were called */
    async withActs(over: ActsOver = {}): Promise<string[]> {
      const { driver, calls } = recordingDriver(over);
      await startWith(driver);
      return calls;
    },
  };
};

/** A step as a caller writes it: `interface.step` and arguments. */
export const step = (of: string, args?: Record<string, unknown>): GivenStep => {
  const [group, name] = of.split('.') as [GivenStep['interface'], string];
  return { interface: group, step: name, ...(args && { args }) };
};
