/** Dependencies of a BMC worker's activities. */

import type { Driver } from '../bmc/contract';
import type { Lanes } from '../bmc/lane';
import type { Inventory } from '../inventory';
import type { Opener, Sealer } from '../inventory/secrets/sealing';
import type { ActName } from '../model/lifecycle/steps';
import type { Log } from '../model/log';
import type { Engine } from '../runs/engine';

/** Settings of boots from a ramdisk record. */
export type BootSettings = {
  /** URL of the boot service for BMCs, without a trailing slash. */
  readonly url: string;
  /** The same URL for ramdisks, which read images there. */
  readonly imagesUrl: string;
  /** URL of the API for ramdisks, without a trailing slash. */
  readonly apiUrl: string;
  readonly sealer: Sealer;
  /** Conductor group whose workers may open a boot's secrets. */
  readonly group: string;
};

export type BmcDeps = {
  readonly inventory: Inventory;
  readonly vault: Opener;
  readonly driverOf: (name: string) => Driver | undefined;
  /** Acts of the ramdisk for every driver. If one is absent, the driver's act of that name is used. */
  readonly agentActs?: Driver['acts'];
  /** Allowed origins of images and firmware; any if empty. */
  readonly imageOrigins?: readonly string[];
  /** Counts ended acts; `code` is the error code or `done`. */
  readonly observe?: { act(step: string, act: ActName, code: string, ms: number): void };
  /** Boots from ramdisk records; absent if not possible here. */
  readonly boot?: BootSettings;
  /** Reports an attempt to the run's workflow, for its query and Temporal's UI. */
  readonly reportAttempt?: Engine['tried'];
  readonly lanes: Lanes;
  readonly log: Log;
  /** Interval of checks for a second ramdisk; default 5 s. */
  readonly conflictLookMs?: number;
  /** Duration of a BMC's lease; default 15 s. After it, the lane of a killed worker is free. */
  readonly leaseMs?: number;
};
