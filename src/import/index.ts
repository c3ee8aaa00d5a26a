/** The import of an Ironic database into an empty or partly filled Temper. A repeat takes what changed at the source alone. */
import { randomUUID } from 'node:crypto';
import type { Inventory } from '../inventory';
import type { Sealer } from '../inventory/secrets/sealing';
import { readIronic } from './ironic';
import type { Group, Kind, Remark, Taken } from './objects';
import type { Source } from './source';
import { keyOf, type Outcome, refusalOf, type TakeContext, take } from './take';
import { readUntaken, type Untaken } from './untaken';

export { openSource, SourceFault } from './source';

type Counts = Record<Outcome['is'], number>;
type ImportLine = Omit<Remark, 'is'> & { readonly is: Remark['is'] | 'kept' | 'gone' };

/** What became of an import, or would. */
export type ImportReport = {
  readonly dry_run: boolean;
  readonly counts: Readonly<Partial<Record<Kind, Counts>>>;
  /** What was not taken as it is at the source, one by one. */
  readonly lines: readonly ImportLine[];
  /** What is not taken at all, counted in the whole database. */
  readonly not_taken: readonly Untaken[];
};

export type ImportContext = {
  readonly inventory: Pick<Inventory, 'stepwise' | 'imports'>;
  readonly sealer: Sealer;
  /** Who runs the command, for the audit trail. */
  readonly user: string;
};

export type ImportWish = {
  /** Nothing is stored; the report says what would be. */
  readonly dryRun: boolean;
  /** Nodes to be taken, by UUID or name; all when absent. */
  readonly only?: ReadonlySet<string>;
};

type Seen = { readonly taken: Taken; readonly outcome: Outcome };

/** Takes a node with what is below it; where the node is refused, so is the rest. */
const takeGroup = (inventory: ImportContext['inventory'], group: Group, context: TakeContext, keep: boolean) =>
  inventory.stepwise(async (attempt) => {
    const seen: Seen[] = [];
    const one = async (taken: Taken): Promise<Outcome> => {
      const outcome = await attempt((queries) => take(queries, taken, context)).catch((thrown): Outcome => {
        const reason = refusalOf(thrown);
        if (reason === undefined) throw thrown;
        return { is: 'refused', reason };
      });
      seen.push({ taken, outcome });
      return outcome;
    };
    for (const taken of group.first) await one(taken);
    const { is } = await one(group.main);
    for (const taken of group.below) {
      if (is === 'refused') seen.push({ taken, outcome: { is: 'refused', reason: 'its node is not taken' } });
      else await one(taken);
    }
    return seen;
  }, keep);

const lineOf = ({ taken: { kind, uuid, name }, outcome }: Seen): ImportLine[] =>
  'reason' in outcome ? [{ kind, uuid, name, is: outcome.is as 'kept' | 'refused', reason: outcome.reason }] : [];

const wantedBy =
  (only: ReadonlySet<string> | undefined) =>
  ({ uuid, name }: { readonly uuid: string | null; readonly name: string | null }): boolean =>
    only === undefined || only.has(String(uuid)) || (name !== null && only.has(name));

/** What was taken once and is no longer at the source: it stays in Temper. */
const goneLines = (
  before: TakeContext['before'],
  found: readonly Group[],
  remarks: readonly Remark[],
): ImportLine[] => {
  const there = new Set(found.flatMap(({ first, main, below }) => [...first, main, ...below]).map(keyOf));
  const refused = new Set(remarks.map(({ uuid }) => uuid));
  return [...before.values()]
    .filter((row) => row.kind === 'node' && !there.has(keyOf(row)) && !refused.has(row.uuid))
    .map(({ uuid }) => ({
      kind: 'node',
      uuid,
      name: null,
      is: 'gone',
      reason: 'it is no longer in Ironic; Temper keeps it',
    }));
};

/**
 * Takes what the source has. Throws SourceFault where it is no database that is understood, and what the store throws; what
 * was stored until then stays, and a repeat goes on.
 */
export const importIronic = async (
  source: Source,
  { inventory, sealer, user }: ImportContext,
  { dryRun, only }: ImportWish,
): Promise<ImportReport> => {
  const { groups, remarks } = await readIronic(source);
  const not_taken = await readUntaken(source);
  const before = new Map((await inventory.imports.all()).map((row) => [keyOf(row), row]));
  const context: TakeContext = { sealer, before, by: { user, request_id: `req-${randomUUID()}` } };
  const isWanted = wantedBy(only);
  const counts: Partial<Record<Kind, Counts>> = {};
  const lines: ImportLine[] = remarks.filter((remark) => only === undefined || isWanted(remark));
  const counted = new Set<string>();
  const count = (kind: Kind, is: Outcome['is']): void => {
    counts[kind] ??= { new: 0, changed: 0, same: 0, kept: 0, refused: 0 };
    counts[kind][is] += 1;
  };
  for (const { kind, is } of lines) if (is === 'refused') count(kind, is);
  for (const group of groups.filter(({ main }) => isWanted(main))) {
    for (const seen of await takeGroup(inventory, group, context, !dryRun)) {
      // A chassis comes with each of its nodes.
      if (counted.has(keyOf(seen.taken))) continue;
      counted.add(keyOf(seen.taken));
      count(seen.taken.kind, seen.outcome.is);
      lines.push(...lineOf(seen));
    }
  }
  if (only === undefined) lines.push(...goneLines(before, groups, remarks));
  return { dry_run: dryRun, counts, lines, not_taken };
};
