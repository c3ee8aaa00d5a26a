/** Messages between the API and its ramdisk thread. */
import type { Counted } from '../../observe/metrics';

/** `port`: the previous port, after a restart. */
export type ThreadStart = { readonly port?: number };

export type ToThread =
  /** Drain and exit. */
  | { readonly is: 'end' }
  /** Send the metrics. */
  | { readonly is: 'count' };

export type FromThread =
  | { readonly is: 'listening'; readonly port: number }
  /** Faults of the settings, for the operator. */
  | { readonly is: 'fault'; readonly faults: readonly string[] }
  | { readonly is: 'counted'; readonly counted: Counted };
