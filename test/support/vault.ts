/** Keys for tests: what the API seals with, what a worker opens with, and both in one for what stands for both. */

import { newPair } from '../../src/inventory/secrets/sealed-box';
import {
  createDigests,
  createOpener,
  createSealer,
  type Digests,
  type Holding,
  type Opener,
  type Sealer,
} from '../../src/inventory/secrets/sealing';
import { bmcSideOf } from '../../src/model/access/bmc-sides';

const pair = newPair();

/** One pair for all groups. */
const testKeys = {
  public: [{ id: 'test', group: null, raw: pair.publicRaw }],
  private: new Map([['test', pair.privateRaw]]),
};

/** What seals, opens and makes digests; no process of the product has all of it. */
export const testVault: Sealer & Opener & Digests = {
  ...createSealer(testKeys.public),
  ...createOpener(testKeys.private),
  ...createDigests(new Map([['test', Buffer.alloc(32, 7)]])),
};

/** Holding of a node's driver_info. */
export const ofDriverInfo = (
  uuid: string,
  driver: string,
  driver_info: Readonly<Record<string, unknown>>,
  group = '',
): Holding => ({
  holder: 'node',
  holder_id: uuid,
  field: 'driver_info',
  groups: [group],
  side: bmcSideOf({ driver, driver_info }),
});

/** Holding of a run's steps. */
export const ofRun = (run: string): Holding => ({ holder: 'run', holder_id: run, field: 'input', groups: [''] });
