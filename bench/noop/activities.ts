/** Activities that do nothing; a step beats once, as every act does. */
import { heartbeat } from '@temporalio/activity';

export type NoopActivities = ReturnType<typeof createNoopActivities>;

export const createNoopActivities = () => ({
  async store(): Promise<void> {},
  async step(_index: number): Promise<void> {
    heartbeat();
  },
});
