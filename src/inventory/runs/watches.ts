/** Runs that a stream watches, and notifications of their events. */
import type { RunUuid } from '../../model/ids';
import { type Sql, uuidArray } from '../database';

const channel = 'temper_events'; // same name as in the trigger

export type Listening = { close(): Promise<void> };

export const watches = (sql: Sql) => ({
  /** Notifies about events of these runs for `ms` longer. */
  async keep(watcher: string, runs: readonly RunUuid[], ms: number): Promise<void> {
    if (runs.length === 0) return;
    await sql`
      insert into run_watches (run_id, watcher, until)
      select run, ${watcher}, now() + ${ms} * interval '1 millisecond' from unnest(${uuidArray(sql, runs)}) run
      on conflict (run_id, watcher) do update set until = excluded.until`;
  },

  /** Deletes watches of dead processes, too. */
  async drop(watcher: string, run: RunUuid): Promise<void> {
    await sql`
      delete from run_watches
      where (watcher = ${watcher} and run_id = ${run}) or until < now() - interval '1 hour'`;
  },

  /**
   * One connection, reopened when lost.
   * @param onStart called at each start of LISTEN, as notifications may have been missed
   */
  async listen(onRun: (run: RunUuid) => void, onStart: () => void): Promise<Listening> {
    const { unlisten } = await sql.listen(channel, (run) => onRun(run as RunUuid), onStart);
    return { close: unlisten };
  },
});
