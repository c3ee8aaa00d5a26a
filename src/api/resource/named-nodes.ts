/** Many nodes by the caller's names for them, in one query. */
import type { Inventory } from '../../inventory';
import { asUuid, type NodeUuid } from '../../model/ids';
import type { Predicate } from '../../model/predicates';

export type FoundNode = ((ident: string) => NodeUuid | undefined) & { nameOf(node: NodeUuid): string | null };

/**
 * @param visible over columns of nodes
 * @returns the node of a UUID or name; undefined for hidden and for missing ones
 */
export const namedNodes = async (
  { inventory }: { readonly inventory: Pick<Inventory, 'rolloutSelection'> },
  visible: Predicate,
  idents: readonly string[],
): Promise<FoundNode> => {
  const found = await inventory.rolloutSelection.named(visible, {
    uuids: idents.flatMap((ident) => asUuid(ident) ?? []),
    names: idents.filter((ident) => asUuid(ident) === undefined),
  });
  const byUuid = new Map<string, NodeUuid>(found.map(({ uuid }) => [uuid, uuid]));
  const byName = new Map(found.map(({ name, uuid }) => [name, uuid]));
  const names = new Map(found.map(({ name, uuid }) => [uuid, name]));
  const find = (ident: string) => {
    const uuid = asUuid(ident);
    return uuid === undefined ? byName.get(ident) : byUuid.get(uuid);
  };
  return Object.assign(find, { nameOf: (node: NodeUuid) => names.get(node) ?? null });
};
