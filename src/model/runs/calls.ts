/** Synchronous calls: the input for one read of a node by a BMC worker. */

import type { NodeUuid } from '../ids';
import type { ActName } from '../lifecycle/acts';
import type { Timing } from './runs';

export type LookInput = {
  readonly node_uuid: NodeUuid;
  readonly act: ActName;
  readonly args: Readonly<Record<string, unknown>>;
  readonly timing: Timing;
  /** For one attempt, including the wait for the BMC's lane. */
  readonly withinMs: number;
};

/** Fields may only be added, as optional ones. */
export type CallInput = LookInput & {
  readonly conductor_group: string;
  /** Temper's default if absent. */
  readonly queue_prefix?: string;
  /** For all attempts together. */
  readonly timeoutMs: number;
};
