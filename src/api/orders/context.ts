/** Context of orders: the current policy, the database, and the settings that limit runs. */
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

/** A part of the API's context, so processes without an API can admit runs. */
export type OrderContext = {
  policy(): Policy;
  readonly inventory: Queries;
  readonly settings: OrderSettings;
};
