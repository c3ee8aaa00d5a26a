/** Queries of the chassis table. */
import { chassisTable } from '../../model/resources/chassis';
import type { Db } from '../database';
import { resource } from '../resources';

export type ChassisRow = { readonly uuid: string };

export const chassis = (sql: Db) => ({
  ...resource<ChassisRow>(sql, { name: 'chassis', table: chassisTable }),

  async hasNodes(uuid: string): Promise<boolean> {
    const [row] = await sql`select 1 from nodes where chassis_uuid = ${uuid} limit 1`;
    return row !== undefined;
  },
});
