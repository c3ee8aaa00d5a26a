/** What orders of runs ask: the policy of this moment, the store, and the settings that bound what may run. */
import type { Queries } from '../../inventory';
import type { Policy } from '../../policy';
import type { ContextSettings } from '../context';

type OrderSettings = Pick<
  ContextSettings,
  | 'automatedClean'
  | 'automaticLessee'
  | 'cleaningRunbooks'
  | 'concurrency'
  | 'defaultRamdisk'
  | 'disallowedSteps'
  | 'imageOrigins'
  | 'quotas'
>;

/** Part of the API's context, so that a process without an API can admit runs as well. */
export type OrderContext = {
  policy(): Policy;
  readonly inventory: Queries;
  readonly settings: OrderSettings;
};
