/** Resealing of secrets: after a change of keys, for another conductor group, or for a node's new BMC. */
import type { Inventory, Queries } from '../inventory';
import type { NodeIdent } from '../inventory/audit';
import type { KeyUse, SecretToSeal } from '../inventory/secrets/resealing';
import type { Opener, Sealer } from '../inventory/secrets/sealing';
import { type BmcSide, bmcSideOf, movedField } from '../model/access/bmc-sides';
import { isTemperError } from '../model/errors';

export type ResealingDeps = { readonly inventory: Inventory; readonly opener: Opener; readonly sealer: Sealer };
type ResealDeps = Omit<ResealingDeps, 'inventory'> & { readonly inventory: Pick<Queries, 'resealing'> };

/** `foreign`: sealed to keys that this process lacks. `unused`: without a holder. */
export type Resealed = 'kept' | 'sealed' | 'foreign' | 'unused';

const secretsAtOnce = 200;

/** Undefined if it needs keys of other workers. */
const opened = (row: SecretToSeal, opener: Opener): { readonly value: unknown } | undefined => {
  try {
    return { value: opener.open(row) };
  } catch (thrown) {
    if (isTemperError(thrown, 'SecretKeyMissing')) return undefined;
    throw thrown;
  }
};

/** Throws for an altered row. */
export const resealOne = async (row: SecretToSeal, { inventory, opener, sealer }: ResealDeps): Promise<Resealed> => {
  const groups = row.groups ?? 'all';
  if (groups.length === 0) return 'unused';
  if (row.key_id === sealer.keyIdFor(groups)) return 'kept';
  const found = opened(row, opener);
  if (!found) return 'foreign';
  await inventory.resealing.replace(row, sealer.sealAgain(found.value, row, groups));
  return 'sealed';
};

/** Reseals what needs it and can be opened here. @returns counts by result, and keys still in use */
export const resealAll = async (
  deps: ResealingDeps,
): Promise<{ readonly counts: Readonly<Record<Resealed, number>>; readonly keys: readonly KeyUse[] }> => {
  const counts: Record<Resealed, number> = { kept: 0, sealed: 0, foreign: 0, unused: 0 };
  let after: string | null = null;
  for (;;) {
    const rows: SecretToSeal[] = await deps.inventory.resealing.page(after, secretsAtOnce);
    for (const row of rows) counts[await resealOne(row, deps)] += 1;
    if (rows.length < secretsAtOnce) break;
    after = rows.at(-1)!.id;
  }
  return { counts, keys: await deps.inventory.resealing.keys() };
};

/** Credentials that were given for another BMC. */
export type Move = {
  readonly node: string;
  readonly name: string | null;
  readonly from: BmcSide;
  readonly to: BmcSide;
  readonly rows: readonly SecretToSeal[];
};

const isMoved = ({ bound, node }: SecretToSeal): boolean =>
  bound !== null && node !== null && movedField(JSON.parse(bound) as BmcSide, bmcSideOf(node)) !== undefined;

/** Undefined if none would move. Throws NodeNotFound by `missing`. */
export const moveOf = async (
  ident: NodeIdent,
  { inventory }: ResealDeps,
  missing: () => never,
): Promise<Move | undefined> => {
  const rows = ((await inventory.resealing.ofNode(ident)) ?? missing()).filter(isMoved);
  const [first] = rows;
  if (!first?.node) return undefined;
  const { uuid, name } = first.node;
  return { node: uuid, name, from: JSON.parse(first.bound!) as BmcSide, to: bmcSideOf(first.node), rows };
};

/**
 * Reseals credentials for the BMC that the operator confirmed, and audits it. No API request may do this,
 * because a compromised API process could send it too. Throws SecretKeyMissing.
 * @param by operating system user who runs the command
 */
export const makeMove = async (move: Move, by: string, { inventory, opener, sealer }: ResealingDeps): Promise<void> =>
  inventory.transaction(async (store) => {
    const bound = JSON.stringify(move.to);
    for (const row of move.rows) {
      const { id, holder, holder_id, path } = row;
      const again = sealer.sealAgain(opener.open(row), { id, holder, holder_id, path, bound }, row.groups ?? 'all');
      await store.resealing.replace(row, again);
    }
    await store.audit.write({
      requester: {
        user_id: null,
        user_name: by,
        project_id: null,
        system_scope: 'all',
        strategy: 'command',
        request_id: `temper-secrets-move-${move.rows[0]!.id}`,
      },
      action: 'node.move_credentials',
      rule: null,
      rule_set: null,
      resource: 'node',
      resource_id: move.node,
      data: { from: move.from, to: move.to, secrets: move.rows.map(({ path }) => path) },
    });
  });
