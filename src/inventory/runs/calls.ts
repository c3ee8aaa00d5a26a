/** Queries for calls whose caller waits: the node as a read needs it, without a lock, and why a run failed. */
import type { Document } from '../../model/document';
import type { NodeUuid, RunUuid } from '../../model/ids';
import type { EventKind } from '../../model/resources/event-kinds';
import type { Db } from '../database';

/** What a look needs of its node; only the BMC workers' role asks. */
export type CalledNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly driver: string;
  readonly driver_info: Record<string, unknown>;
  readonly properties: Document;
  readonly power_state: string | null;
  readonly boot_mode: string | null;
  readonly secure_boot: boolean | null;
  readonly boot_interface: string | null;
};

export const calls = (sql: Db) => ({
  /** A node, held by a run or not, or undefined. */
  async node(uuid: NodeUuid): Promise<CalledNode | undefined> {
    const [row] = await sql<CalledNode[]>`
      select uuid, name, driver, driver_info, properties, power_state, boot_mode, secure_boot, boot_interface
      from nodes where uuid = ${uuid}`;
    return row;
  },

  /** What the step of a call answered; undefined where it had nothing to say. */
  async answerOf(run: RunUuid): Promise<unknown> {
    const [row] = await sql<{ answer: unknown }[]>`
      select answer from run_steps where run_id = ${run} order by index desc limit 1`;
    return row?.answer ?? undefined;
  },

  /** The code that the last attempt of a run failed with; undefined where none did. */
  async failureOf(run: RunUuid): Promise<string | undefined> {
    const [row] = await sql<{ code: string | null }[]>`
      select data ->> 'code' as code from events where run_id = ${run} and kind = ${'step.tried' satisfies EventKind} order by seq desc limit 1`;
    return row?.code ?? undefined;
  },
});
