/** List of all drivers. A new driver's folder is added here. */

import { raise } from '../model/errors';
import { type DriverName, driverNames, driverRow, isDriver } from '../model/lifecycle/drivers';
import type { StepDriver } from '../model/lifecycle/step-types';
import type { Driver, DriverDeps } from './contract';
import { createFakeDriver } from './fake';
import { createIpmiDriver } from './ipmi';
import { createRedfishDriver } from './redfish';

export type * from './contract';
export { createLanes } from './lane';

export type Drivers = {
  readonly drivers: Readonly<Record<DriverName, Driver>>;
  /** Throws DriverNotFound. */
  get(name: string): Driver;
  close(): Promise<void>;
};

export const createDrivers = (deps: DriverDeps): Drivers => {
  const speaking: Record<StepDriver, Driver> = {
    redfish: createRedfishDriver(deps),
    ipmi: createIpmiDriver(deps),
    'fake-hardware': createFakeDriver({ delayMs: deps.fakeDelayMs }),
  };
  // Hardware types with one protocol share sessions and lanes, because they may use one BMC.
  const drivers = Object.fromEntries(driverNames.map((name) => [name, speaking[driverRow(name).speaks]])) as Record<
    DriverName,
    Driver
  >;
  return {
    drivers,
    get: (name) => (isDriver(name) ? drivers[name] : raise('DriverNotFound', { driver: name })),
    close: async () => {
      await Promise.all(Object.values(speaking).map((driver) => driver.close()));
    },
  };
};
