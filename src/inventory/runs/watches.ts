/** Which runs a stream watches, and the announcements that their events cause. */
import type { RunUuid } from '../../model/ids';
import { type Sql, uuidArray } from '../database';

const channel = 'temper_events'; // as the trigger names it

export type Listening = { close(): Promise<void> };

export const watches = (sql: Sql) => ({
  /** Has events of these runs announced for some milliseconds more. */
  async keep(watcher: string, runs: readonly RunUuid[], ms: number): Promise<void> {
    if (runs.length === 0) return;
    await sql`
      insert into run_watches (run_id, watcher, until)
      select run, ${watcher}, now() + ${ms} * interval '1 millisecond' from unnest(${uuidArray(sql, runs)}) run
      on conflict (run_id, watcher) do update set until = excluded.until`;
  },

  /** Ends a watch, and sweeps those whose process has gone without a word. */
  async drop(watcher: string, run: RunUuid): Promise<void> {
    await sql`
      delete from run_watches
      where (watcher = ${watcher} and run_id = ${run}) or until < now() - interval '1 hour'`;
  },

  /**
   * Receives new events on one connection, which is opened anew when it is lost.
   * @param onRun with the run whose event it was; @param onStart whenever listening begins: something may have been missed
   */
  async listen(onRun: (run: RunUuid) => void, onStart: () => void): Promise<Listening> {
    const { unlisten } = await sql.listen(channel, (run) => onRun(run as RunUuid), onStart);
    return { close: unlisten };
  },
});
