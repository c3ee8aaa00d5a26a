/** Visible objects whose names, addresses or ids begin with a text. Few of each kind, found by indexes. */
import type { NodeUuid, RunbookUuid, UuidRange } from '../model/ids';
import type { Predicate } from '../model/predicates';
import { mostFound, type SearchedField, type SearchTerm, searchedFields } from '../model/search';
import type { Db, Fragment } from './database';
import { conditionOf } from './predicates';
import type { RolloutRow } from './rollouts/rollouts';

export type FoundNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly provision_state: string;
  readonly maintenance: boolean;
  readonly fault: string | null;
  readonly owner: string | null;
  readonly lessee: string | null;
  readonly matched: SearchedField;
  /** It begins with the text. */
  readonly value: string;
};
export type FoundRollout = Pick<RolloutRow, 'id' | 'name' | 'project' | 'verb' | 'state' | 'requester'>;
export type FoundRunbook = { readonly uuid: RunbookUuid; readonly name: string; readonly description: string | null };

/** Over columns of nodes. `withPorts`: those whose ports are visible too. */
type SeenNodes = { readonly visible: Predicate; readonly withPorts: Predicate };

/** A range, because a statement that is planned for any value finds no index for `like`. */
const begins = (sql: Db, of: Fragment, text: Fragment): Fragment =>
  sql`(${of} ~>=~ ${text} and ${of} ~<~ (${text} || chr(1114111)))`; // the last character of Unicode

const within = (sql: Db, of: Fragment, { lowest, highest }: UuidRange): Fragment =>
  sql`${of} between ${lowest} and ${highest}`;

/** One more than is shown. A literal: with a parameter, PostgreSQL plans for a tenth of all rows. */
const few = (sql: Db): Fragment => sql`limit ${sql.unsafe(String(mostFound + 1))}`;

type SearchPart = {
  readonly value: Fragment;
  readonly from: Fragment;
  readonly where: Fragment;
  readonly order: Fragment;
};

const nodePart = (
  sql: Db,
  field: SearchedField,
  { text, uuids, address }: SearchTerm,
  seen: SeenNodes,
): SearchPart | undefined => {
  const wanted = sql`lower(${text})`;
  const of = (key: Fragment, value: Fragment, given: Fragment = sql`true`): SearchPart => ({
    value,
    from: sql`nodes n`,
    where: sql`${given} and ${begins(sql, key, wanted)} and ${conditionOf(sql, seen.visible, 'n')}`,
    order: sql`${key} using ~<~`,
  });
  switch (field) {
    case 'name':
      return of(sql`lower(n.name)`, sql`n.name`, sql`n.name is not null`);
    case 'rack':
      return of(sql`lower(n.rack)`, sql`n.rack`, sql`n.rack is not null`);
    case 'serial_number': {
      const serial = sql`n.properties ->> 'serial_number'`;
      return of(sql`lower(left(${serial}, 64))`, sql`left(${serial}, 64)`, sql`${serial} is not null`);
    }
    case 'uuid':
      return uuids && {
        value: sql`n.uuid::text`,
        from: sql`nodes n`,
        where: sql`${within(sql, sql`n.uuid`, uuids)} and ${conditionOf(sql, seen.visible, 'n')}`,
        order: sql`n.uuid`,
      };
    case 'address':
      return address === undefined ? undefined : {
        value: sql`p.address`,
        from: sql`ports p join nodes n on n.uuid = p.node_uuid`,
        where: sql`${begins(sql, sql`p.address`, sql`${address}::text`)} and ${conditionOf(sql, seen.withPorts, 'n')}`,
        order: sql`p.address using ~<~`,
      };
  } // biome-ignore format: one row of parts
};

const hits = (sql: Db, term: SearchTerm, seen: SeenNodes): Fragment =>
  searchedFields
    .flatMap((field, rank) => {
      const part = nodePart(sql, field, term, seen);
      if (!part) return [];
      const row = sql`n.id, ${rank}::int as rank, ${field}::text as matched, ${part.value} as value`;
      return [sql`(select ${row} from ${part.from} where ${part.where} order by ${part.order} ${few(sql)})`];
    })
    .reduce((all, one) => sql`${all} union all ${one}`);

export const search = (sql: Db) => ({
  nodes: (term: SearchTerm, seen: SeenNodes): Promise<FoundNode[]> => sql<FoundNode[]>`
    select uuid, name, provision_state, maintenance, fault, owner, lessee, matched, value from (
      select distinct on (id) id, rank, matched, value from (${hits(sql, term, seen)}) hits order by id, rank, value) found
    join nodes using (id) order by rank, lower(value) using ~<~, id ${few(sql)}`,

  /** By name, among those that are visible as a whole. */
  rollouts: ({ text }: SearchTerm, visible: Predicate): Promise<FoundRollout[]> => sql<FoundRollout[]>`
    select id, name, project, verb, state, requester from rollouts r
    where name is not null and ${begins(sql, sql`lower(r.name)`, sql`lower(${text})`)} and ${conditionOf(sql, visible, 'r')}
    order by lower(r.name) using ~<~ ${few(sql)}`,

  runbooks: ({ text, uuids }: SearchTerm, visible: Predicate): Promise<FoundRunbook[]> => sql<FoundRunbook[]>`
    select uuid, name, description from runbooks b
    where (${begins(sql, sql`lower(b.name)`, sql`lower(${text})`)} ${uuids ? sql`or ${within(sql, sql`b.uuid`, uuids)}` : sql``})
      and ${conditionOf(sql, visible, 'b')}
    order by lower(b.name) using ~<~ ${few(sql)}`,

  /** True if a visible node is of this project. */
  async isProject(project: string, visible: Predicate): Promise<boolean> {
    const of = (column: 'owner' | 'lessee') =>
      sql`exists (select from nodes n where ${sql(`n.${column}`)} = ${project} and ${conditionOf(sql, visible, 'n')})`;
    const [row] = await sql<{ known: boolean }[]>`select ${of('owner')} or ${of('lessee')} as known`;
    return row!.known;
  },
});
