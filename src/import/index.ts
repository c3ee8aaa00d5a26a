/** Imports an Ironic database. A repeated import takes only changes of the source. */
import { randomUUID } from 'node:crypto';
import type { Attempt, Inventory } from '../inventory';
import type { Sealer } from '../inventory/secrets/sealing';
import { asUuid } from '../model/ids';
import { type Found, readIronic } from './ironic';
import type { Group, Kind, Remark, Taken } from './objects';
import { type Source, SourceFault } from './source';
import { keyOf, type Outcome, refusalOf, type TakeContext, take, wasDeleted } from './take';
import { readUntaken, type Untaken } from './untaken';

export { openSource, SourceFault } from './source';

type Counts = Record<Outcome['is'], number>;
type ImportLine = Omit<Remark, 'is'> & { readonly is: Remark['is'] | 'kept' | 'gone' };

export type ImportReport = {
  readonly dry_run: boolean;
  readonly counts: Readonly<Partial<Record<Kind, Counts>>>;
  /** Objects that were refused or imported with changes. */
  readonly lines: readonly ImportLine[];
  /** Kinds that are never imported, counted in the whole database. */
  readonly not_taken: readonly Untaken[];
};

export type ImportContext = {
  readonly inventory: Pick<Inventory, 'stepwise' | 'imports' | 'alone' | 'recovery'>;
  readonly sealer: Sealer;
  /** User of the command, for the audit trail. */
  readonly user: string;
};

export type ImportWish = {
  /** Stores nothing; the report shows what an import would do. */
  readonly dryRun: boolean;
  /** By UUID or name, even if deleted in Temper; all if absent. */
  readonly only?: ReadonlySet<string>;
  /** Ironic's conductors are stopped, so nodes need no maintenance there. */
  readonly ironicStopped?: boolean;
};

type Seen = { readonly taken: Taken; readonly outcome: Outcome };

/** A refused node refuses the objects below it. An object deleted in Temper is skipped, unless it was named. */
const takeGroup = async (
  attempt: Attempt,
  { first, main, below }: Group,
  context: TakeContext,
  named: boolean,
): Promise<Seen[]> => {
  const deleted = await attempt((queries) => wasDeleted(queries, main, context));
  if (deleted && !named)
    return [
      { taken: main, outcome: { is: 'kept', reason: 'it was deleted in Temper; give its name to take it again' } },
      ...below.map((taken): Seen => ({ taken, outcome: { is: 'kept', reason: 'its node was deleted in Temper' } })),
    ];
  const one = async (taken: Taken): Promise<Seen> => ({
    taken,
    outcome: await attempt((queries) => take(queries, taken, context, deleted)).catch((thrown): Outcome => {
      const reason = refusalOf(thrown);
      if (reason === undefined) throw thrown;
      return { is: 'refused', reason };
    }),
  });
  const seen: Seen[] = [];
  for (const taken of [...first, main]) seen.push(await one(taken));
  const refused = seen.at(-1)!.outcome.is === 'refused';
  for (const taken of below)
    seen.push(refused ? { taken, outcome: { is: 'refused', reason: 'its node is not taken' } } : await one(taken));
  return seen;
};

const importLines = ({ taken: { kind, uuid, name }, outcome }: Seen): ImportLine[] =>
  'reason' in outcome ? [{ kind, uuid, name, is: outcome.is as 'kept' | 'refused', reason: outcome.reason }] : [];

type Named = { readonly uuid: string | null; readonly name: string | null };

const wantedBy = (only: ReadonlySet<string> | undefined) => {
  const idents = only && new Set([...only].flatMap((ident) => [ident, asUuid(ident) ?? ident]));
  return ({ uuid, name }: Named): boolean =>
    idents === undefined || idents.has(String(uuid)) || (name !== null && idents.has(name));
};

/** Named nodes that the source does not have. */
const missingLines = (only: ReadonlySet<string> = new Set(), there: readonly Named[]): ImportLine[] =>
  [...only]
    .filter((ident) => !there.some(wantedBy(new Set([ident]))))
    .map((name) => ({ kind: 'node', uuid: null, name, is: 'refused', reason: 'Ironic has none of this UUID or name' }));

/** Objects gone from the source. They stay in Temper, unless deleted there too. */
const goneLines = async (
  { imports }: ImportContext['inventory'],
  before: TakeContext['before'],
  { together, remarks }: Found,
): Promise<ImportLine[]> => {
  const there = new Set(
    together
      .flat()
      .flatMap(({ first, main, below }) => [...first, main, ...below])
      .map(keyOf),
  );
  const refused = new Set(remarks.map(({ uuid }) => uuid));
  const lines: ImportLine[] = [];
  for (const row of [...before.values()].filter((one) => !there.has(keyOf(one)) && !refused.has(one.uuid))) {
    const { uuid } = row;
    const kind = row.kind as Kind;
    if (await wasDeleted({ imports }, { kind, uuid }, { before })) continue;
    lines.push({ kind, uuid, name: null, is: 'gone', reason: 'it is no longer in Ironic; Temper keeps it' });
  }
  return lines;
};

/** Except for a dry run, the caller holds the import lock. */
const importAlone = async (
  source: Source,
  { inventory, sealer, user }: ImportContext,
  { dryRun, only, ironicStopped = false }: ImportWish,
): Promise<ImportReport> => {
  const found = await readIronic(source, ironicStopped);
  const { together, remarks } = found;
  const not_taken = await readUntaken(source);
  const before = new Map((await inventory.imports.all()).map((row) => [keyOf(row), row]));
  const context: TakeContext = { sealer, before, by: { user, request_id: `req-${randomUUID()}` } };
  const isWanted = wantedBy(only);
  const counts: Partial<Record<Kind, Counts>> = {};
  const mains = together.flat().map(({ main }) => main);
  const lines: ImportLine[] = [
    ...remarks.filter((remark) => only === undefined || isWanted(remark)),
    ...missingLines(only, [...mains, ...remarks]),
  ];
  const counted = new Set<string>();
  const count = (kind: Kind, is: Outcome['is']): void => {
    counts[kind] ??= { new: 0, changed: 0, same: 0, kept: 0, refused: 0 };
    counts[kind][is] += 1;
  };
  for (const { kind, is } of lines) if (is === 'refused') count(kind, is);
  for (const all of together) {
    const groups = all.filter(({ main }) => isWanted(main));
    const seenOfAll = await inventory.stepwise(async (attempt) => {
      const seen: Seen[] = [];
      for (const group of groups) seen.push(...(await takeGroup(attempt, group, context, only !== undefined)));
      return seen;
    }, !dryRun);
    for (const seen of seenOfAll) {
      // A chassis comes with each of its nodes.
      if (counted.has(keyOf(seen.taken))) continue;
      counted.add(keyOf(seen.taken));
      count(seen.taken.kind, seen.outcome.is);
      lines.push(...importLines(seen));
    }
  }
  if (only === undefined) lines.push(...(await goneLines(inventory, before, found)));
  return { dry_run: dryRun, counts, lines, not_taken };
};

/**
 * Throws SourceFault for an unsupported database, during another import or in recovery, and errors of PostgreSQL.
 * Stored groups stay after an error, and a repeated import continues.
 */
export const importIronic = async (source: Source, context: ImportContext, wish: ImportWish): Promise<ImportReport> => {
  const work = () => importAlone(source, context, wish);
  // During recovery, the database may be wrong about a node's holder.
  if (!wish.dryRun && (await context.inventory.recovery.current()))
    throw new SourceFault('Temper is in recovery: an administrator ends it with `temper recover --yes`.');
  const report = wish.dryRun ? await work() : await context.inventory.alone('import', work);
  if (!report) throw new SourceFault('Another import is under way. Begin when it has ended.');
  return report;
};
