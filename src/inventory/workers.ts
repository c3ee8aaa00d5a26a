/** Workers and their capabilities, as last reported. */
import { type Db, textArray } from './database';

export type WorkerRow = {
  readonly hostname: string;
  readonly conductor_group: string;
  readonly drivers: string[];
  readonly role: 'control' | 'bmc';
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Reported within the last minute. */
  readonly alive: boolean;
};

/** Longest silence of a live worker; openstack/ironic:ironic/conf/conductor.py heartbeat_timeout. */
const silentAfter = '60 seconds';

/** Condition for live BMC workers, by alias of the table. */
export const isAlive = (sql: Db, alias: string) =>
  sql`${sql(`${alias}.role`)} = 'bmc' and ${sql(`${alias}.updated_at`)} > now() - ${silentAfter}::interval`;

export const workers = (sql: Db) => ({
  /** Call it every few seconds. */
  async beat(worker: {
    hostname: string;
    conductor_group: string;
    drivers: readonly string[];
    role: 'control' | 'bmc';
    /** Its address for readers of serial consoles. */
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

  async leave(hostname: string): Promise<void> {
    await sql`update workers set updated_at = now() - interval '1 hour' where hostname = ${hostname}`;
  },

  /** Includes silent ones, by host name. */
  async list(): Promise<WorkerRow[]> {
    return sql<WorkerRow[]>`
      select *, updated_at > now() - ${silentAfter}::interval as alive from workers where role = 'bmc' order by hostname`;
  },

  /** A live worker with this driver in this group. */
  async find(conductor_group: string, driver: string): Promise<string | undefined> {
    const [row] = await sql<{ hostname: string }[]>`
      select hostname from workers
      where ${isAlive(sql, 'workers')} and conductor_group = ${conductor_group} and ${driver} = any (drivers)
      order by hostname limit 1`;
    return row?.hostname;
  },

  /** Console address of such a worker. */
  async findConsole(conductor_group: string, driver: string): Promise<string | undefined> {
    const [row] = await sql<{ console_url: string }[]>`
      select console_url from workers
      where ${isAlive(sql, 'workers')} and conductor_group = ${conductor_group} and ${driver} = any (drivers) and console_url is not null
      order by hostname limit 1`;
    return row?.console_url;
  },
});
