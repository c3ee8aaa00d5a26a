/** Dependencies of BMC activities. */

import type { Driver } from '../bmc/contract';
import type { Lanes } from '../bmc/lane';
import type { Inventory } from '../inventory';
import type { Opener, Sealer } from '../inventory/secrets/sealing';
import type { ActName } from '../model/lifecycle/steps';
import type { Log } from '../model/log';
import type { Engine } from '../runs/engine';

export type BootSettings = {
  /** Boot service for BMCs, without a trailing slash. */
  readonly url: string;
  /** The same for ramdisks, which read images there. */
  readonly imagesUrl: string;
  /** API for ramdisks, without a trailing slash. */
  readonly apiUrl: string;
  readonly sealer: Sealer;
  /** Its workers may open a boot's secrets. */
  readonly group: string;
};

export type BmcDeps = {
  readonly inventory: Inventory;
  readonly vault: Opener;
  readonly driverOf: (name: string) => Driver | undefined;
  /** Acts of the ramdisk; if one is absent, the driver's act of that name is used. */
  readonly agentActs?: Driver['acts'];
  /** Any if empty. */
  readonly imageOrigins?: readonly string[];
  /** `code` is the error code or `done`. */
  readonly observe?: { act(step: string, act: ActName, code: string, ms: number): void };
  /** Absent if this worker cannot boot ramdisk records. */
  readonly boot?: BootSettings;
  /** Reports an attempt to the run's workflow, for its query and Temporal's UI. */
  readonly reportAttempt?: Engine['tried'];
  readonly lanes: Lanes;
  readonly log: Log;
  /** Interval of checks for a second ramdisk; default 5 s. */
  readonly conflictLookMs?: number;
  /** Default 15 s. After it, the lane of a killed worker is free. */
  readonly leaseMs?: number;
};
