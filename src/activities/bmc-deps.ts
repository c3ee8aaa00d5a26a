/** What the activities of a BMC worker are made with. */

import type { Driver } from '../bmc/contract';
import type { Lanes } from '../bmc/lane';
import type { Inventory } from '../inventory';
import type { Opener, Sealer } from '../inventory/secrets/sealing';
import type { ActName } from '../model/lifecycle/steps';
import type { Log } from '../model/log';
import type { Engine } from '../runs/engine';

/** How a worker composes a boot from a ramdisk record. */
export type BootSettings = {
  /** The boot service as BMCs reach it, without a slash at its end. */
  readonly url: string;
  /** The same as ramdisks reach it, which read images there. */
  readonly imagesUrl: string;
  /** The API as ramdisks reach it, likewise. */
  readonly apiUrl: string;
  readonly sealer: Sealer;
  /** Conductor group whose workers may open the secrets of a boot. */
  readonly group: string;
};

export type BmcDeps = {
  readonly inventory: Inventory;
  readonly vault: Opener;
  readonly driverOf: (name: string) => Driver | undefined;
  /** What the ramdisk does, whatever the hardware type; a driver's own acts of the same name stand in where absent. */
  readonly agentActs?: Driver['acts'];
  /** Origins that images and firmware may come from; any when empty. */
  readonly imageOrigins?: readonly string[];
  /** Counts acts as they end; `code` is the error's, or `done`. */
  readonly observe?: { act(step: string, act: ActName, code: string, ms: number): void };
  /** How nodes are booted from ramdisk records; absent where they cannot be. */
  readonly boot?: BootSettings;
  /** Reports an attempt to the run's workflow, where a query and the engine's UI have it from. */
  readonly reportAttempt?: Engine['tried'];
  readonly lanes: Lanes;
  readonly log: Log;
  /** How often an act of the ramdisk looks whether a second one has spoken for the node; default 5 s. */
  readonly conflictLookMs?: number;
  /** How long a BMC's lease lasts without renewal; default 15 s. A killed worker's lane is free after it. */
  readonly leaseMs?: number;
};
