/** An emulated rack for one test file: a fresh BMC of a vendor for every test, with a driver of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fault, type RackBmc, type RackOptions, startRack } from '../../../emulator/rack';
import { createDrivers } from '../../../src/bmc';
import type { ActContext, Driver, DriverDeps } from '../../../src/bmc/contract';
import { isTemperError, type TemperError } from '../../../src/model/errors';
import type { ActName } from '../../../src/model/lifecycle/steps';
import { contextWith, hasty, type Intents, intentsOf, nodeWith, quiet } from './context';

export const startRackBench = async (options: Partial<RackOptions>) => {
  const stateDir = await mkdtemp(join(tmpdir(), 'rack-'));
  const timing = { powerOnMs: 60, powerOffMs: 40, gracefulOffMs: 60, postMs: 40, bmcResetMs: 300, ...options.timing };
  const rack = await startRack({ ...options, stateDir, timing });
  const used = new Set<number>();
  const drivers: { close(): Promise<void> }[] = [];

  const driverFor = (deps: Partial<DriverDeps> = {}): Driver => {
    const created = createDrivers({
      log: quiet,
      networks: ['127.0.0.0/8'],
      ...deps,
      limits: { ...hasty, ...deps.limits },
    });
    drivers.push(created);
    return created.get('redfish');
  };

  const take = (profile: string): RackBmc => {
    const bmc = rack.bmcs.find((each) => each.profile === profile && !used.has(each.index))!;
    used.add(bmc.index);
    return bmc;
  };

  return {
    rack,
    driverFor,
    take,
    /** A BMC of this vendor that no other test has touched. */
    bench(profile: string, info: Record<string, unknown> = {}, deps: Partial<DriverDeps> = {}) {
      const bmc = take(profile);
      const driver = driverFor(deps);
      const node = nodeWith('redfish', {
        redfish_address: bmc.address,
        redfish_username: bmc.username,
        redfish_password: bmc.password,
        ...info,
      });
      const run = (act: ActName, args = {}, more: Partial<ActContext> & { intents?: Intents } = {}) =>
        driver.acts[act]!(node, args, contextWith(more.intents ?? intentsOf(act), more));
      return {
        bmc,
        driver,
        node,
        run,
        /** The error of the list that an act ends with. */
        failure: async (act: ActName, args = {}, more: Partial<ActContext> & { intents?: Intents } = {}) => {
          const thrown: unknown = await run(act, args, more).then(
            (outcome) => new Error(`it ended well: ${JSON.stringify(outcome)}`),
            (error: unknown) => error,
          );
          if (!isTemperError(thrown)) throw thrown;
          return thrown as TemperError;
        },
        fault: (fault: Fault) => rack.fault(bmc.index, fault),
        mend: () => rack.clearFaults(bmc.index),
        state: () => rack.state(bmc.index),
        accepted: () => rack.journal({ bmc: bmc.index, accepted: true, session: false }),
        logins: () => rack.journal({ bmc: bmc.index, session: true }).filter(({ method }) => method === 'POST'),
      };
    },
    async close() {
      await Promise.all(drivers.map((driver) => driver.close()));
      await rack.close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
};

export type RackBench = Awaited<ReturnType<typeof startRackBench>>;
