/** Workers and what they can do, as they said last. */
import { type Db, textArray } from './database';

export type WorkerRow = {
  readonly hostname: string;
  readonly conductor_group: string;
  readonly drivers: string[];
  readonly role: 'control' | 'bmc';
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Whether it has reported within the last minute. */
  readonly alive: boolean;
};

/** How long a worker may be silent and still count as alive; openstack/ironic:ironic/conf/conductor.py heartbeat_timeout. */
const silentAfter = '60 seconds';

/** Whether a row of workers, by its alias, is a BMC worker that lives. */
export const isAlive = (sql: Db, alias: string) =>
  sql`${sql(`${alias}.role`)} = 'bmc' and ${sql(`${alias}.updated_at`)} > now() - ${silentAfter}::interval`;

export const workers = (sql: Db) => ({
  /** Says that a worker lives. Called every few seconds. */
  async beat(worker: {
    hostname: string;
    conductor_group: string;
    drivers: readonly string[];
    role: 'control' | 'bmc';
    /** Where readers of serial lines reach it. */
    console_url?: string | undefined;
  }): Promise<void> {
    await sql`
      insert into workers (hostname, conductor_group, drivers, role, console_url)
      values (${worker.hostname}, ${worker.conductor_group}, ${textArray(sql, worker.drivers)}, ${worker.role},
        ${worker.console_url ?? null})
      on conflict (hostname) do update set
        conductor_group = excluded.conductor_group, drivers = excluded.drivers, role = excluded.role,
        console_url = excluded.console_url, updated_at = now()`;
  },

  /** Says that a worker went away in good order. */
  async leave(hostname: string): Promise<void> {
    await sql`update workers set updated_at = now() - interval '1 hour' where hostname = ${hostname}`;
  },

  /** All BMC workers, the silent ones too, by host name. */
  async list(): Promise<WorkerRow[]> {
    return sql<WorkerRow[]>`
      select *, updated_at > now() - ${silentAfter}::interval as alive from workers where role = 'bmc' order by hostname`;
  },

  /** Host name of a live worker that can serve this driver in this group, or undefined. */
  async find(conductor_group: string, driver: string): Promise<string | undefined> {
    const [row] = await sql<{ hostname: string }[]>`
      select hostname from workers
      where ${isAlive(sql, 'workers')} and conductor_group = ${conductor_group} and ${driver} = any (drivers)
      order by hostname limit 1`;
    return row?.hostname;
  },

  /** Address of a live worker of this group that reads serial lines, or undefined. */
  async findConsole(conductor_group: string, driver: string): Promise<string | undefined> {
    const [row] = await sql<{ console_url: string }[]>`
      select console_url from workers
      where ${isAlive(sql, 'workers')} and conductor_group = ${conductor_group} and ${driver} = any (drivers) and console_url is not null
      order by hostname limit 1`;
    return row?.console_url;
  },
});
