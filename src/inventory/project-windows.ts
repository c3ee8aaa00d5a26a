/** Queries of windows in which projects admit rollouts of others. */
import type { ProjectId } from '../model/ids';
import type { Predicate } from '../model/predicates';
import type { Window } from '../model/rollouts/windows';
import { type Db, textArray } from './database';
import { conditionOf } from './predicates';

export type ProjectWindow = Window & {
  readonly uuid: string;
  readonly project: ProjectId;
  readonly name: string;
  readonly created_at: Date;
};

const windowColumns = ['uuid', 'project', 'name', 'days', 'from', 'minutes', 'zone', 'created_at'] as const;

export const projectWindows = (sql: Db) => ({
  /** Oldest first. @param visible over columns of windows */
  async list({ visible, limit, after }: { visible: Predicate; limit: number; after?: string }) {
    return sql<ProjectWindow[]>`
      select ${sql(windowColumns)} from project_windows where ${conditionOf(sql, visible, 'project_windows')}
        and ${after ? sql`id > (select m.id from project_windows m where m.uuid = ${after})` : sql`true`}
      order by id limit ${limit}`;
  },

  ofProject: (project: ProjectId): Promise<ProjectWindow[]> => sql<ProjectWindow[]>`
    select ${sql(windowColumns)} from project_windows where project = ${project} order by id`,

  async find(uuid: string): Promise<ProjectWindow | undefined> {
    const [row] = await sql<ProjectWindow[]>`select ${sql(windowColumns)} from project_windows where uuid = ${uuid}`;
    return row;
  },

  async count(project: ProjectId): Promise<number> {
    const [row] = await sql<{ many: number }[]>`
      select count(*)::int as many from project_windows where project = ${project}`;
    return row!.many;
  },

  /** Undefined if the name is taken. */
  async create(values: Window & { project: ProjectId; name: string }): Promise<ProjectWindow | undefined> {
    const { project, name, days, from, minutes, zone } = values;
    const [row] = await sql<ProjectWindow[]>`
      insert into project_windows ${sql({ project, name, days: textArray(sql, days), from, minutes, zone })}
      on conflict on constraint project_windows_name do nothing returning ${sql(windowColumns)}`;
    return row;
  },

  async delete(uuid: string): Promise<boolean> {
    return (await sql`delete from project_windows where uuid = ${uuid} returning 1`).length === 1;
  },
});
