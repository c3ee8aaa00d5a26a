/** A call whose caller waits: what a worker gets in order to read from a node once. */

import type { NodeUuid } from '../ids';
import type { ActName } from '../lifecycle/acts';
import type { Timing } from './runs';

export type LookInput = {
  readonly node_uuid: NodeUuid;
  readonly act: ActName;
  readonly args: Readonly<Record<string, unknown>>;
  readonly timing: Timing;
  /** For one attempt, waiting for the BMC's lane included. */
  readonly withinMs: number;
};

/** The input of the workflow around it. Only grows, by optional fields. */
export type CallInput = LookInput & {
  readonly conductor_group: string;
  /** First part of the queue names; the product's own when absent. */
  readonly queue_prefix?: string;
  /** For all attempts together. */
  readonly timeoutMs: number;
};
