/** Queries of calls with a waiting caller. */
import type { Document } from '../../model/document';
import type { NodeUuid, RunUuid } from '../../model/ids';
import type { EventKind } from '../../model/resources/event-kinds';
import type { Db } from '../database';

/** Only the BMC workers' role reads it. */
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
  async node(uuid: NodeUuid): Promise<CalledNode | undefined> {
    const [row] = await sql<CalledNode[]>`
      select uuid, name, driver, driver_info, properties, power_state, boot_mode, secure_boot, boot_interface
      from nodes where uuid = ${uuid}`;
    return row;
  },

  async answerOf(run: RunUuid): Promise<unknown> {
    const [row] = await sql<{ answer: unknown }[]>`
      select answer from run_steps where run_id = ${run} order by index desc limit 1`;
    return row?.answer ?? undefined;
  },

  /** Code of the last failed attempt. */
  async failureOf(run: RunUuid): Promise<string | undefined> {
    const [row] = await sql<{ code: string | null }[]>`
      select data ->> 'code' as code from events where run_id = ${run} and kind = ${'step.tried' satisfies EventKind} order by seq desc limit 1`;
    return row?.code ?? undefined;
  },
});
