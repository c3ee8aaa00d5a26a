/** Every driver by name: the one list that a new driver's folder is added to. */
import { type DriverName, isDriver } from '../model/drivers';
import { raise } from '../model/errors';
import type { Driver, DriverHands } from './contract';
import { createFakeDriver } from './fake';
import { createIpmiDriver } from './ipmi';
import { createRedfishDriver } from './redfish';

export type * from './contract';
export { createLanes, type Lanes } from './lane';

export type Drivers = {
  readonly drivers: Readonly<Record<DriverName, Driver>>;
  /** Throws DriverNotFound. */
  get(name: string): Driver;
  /** Gives up all sessions and sockets. */
  close(): Promise<void>;
};

export const createDrivers = (hands: DriverHands): Drivers => {
  const drivers: Record<DriverName, Driver> = {
    redfish: createRedfishDriver(hands),
    ipmi: createIpmiDriver(hands),
    'fake-hardware': createFakeDriver({ delayMs: hands.fakeDelayMs }),
  };
  return {
    drivers,
    get: (name) => (isDriver(name) ? drivers[name] : raise('DriverNotFound', { driver: name })),
    close: async () => {
      await Promise.all(Object.values(drivers).map((driver) => driver.close()));
    },
  };
};
