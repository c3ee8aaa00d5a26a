/** What the API and its thread for ramdisks say to each other. */
import type { Counted } from '../../observe/metrics';

/** Given to the thread as it starts: the port that it had before, where it is started again. */
export type ThreadStart = { readonly port?: number };

export type ToThread =
  /** Drain, and end. */
  | { readonly is: 'end' }
  /** Answer with what has been counted. */
  | { readonly is: 'count' };

export type FromThread =
  | { readonly is: 'listening'; readonly port: number }
  /** Faults of the settings, for the operator: it does not start. */
  | { readonly is: 'fault'; readonly faults: readonly string[] }
  | { readonly is: 'counted'; readonly counted: Counted };
