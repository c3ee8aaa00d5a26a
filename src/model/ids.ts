/** Branded identifiers: the id of a node does not compile as the id of a run. */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type NodeUuid = Branded<'NodeUuid'>;
export type PortUuid = Branded<'PortUuid'>;
export type RunbookUuid = Branded<'RunbookUuid'>;
export type RunUuid = Branded<'RunUuid'>;
export type AllocationUuid = Branded<'AllocationUuid'>;
export type LeaseUuid = Branded<'LeaseUuid'>;
/** The type of `runs.batch`. */
export type RolloutUuid = Branded<'RolloutUuid'>;
export type FreezeUuid = Branded<'FreezeUuid'>;
export type ProjectId = string;

const uuidForm =
  /^(?:urn:)?(?:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?$/i;

/** The canonical form of any spelling of a UUID (dashes, braces, urn prefix and case are free), or undefined. */
export const asUuid = (text: string): string | undefined => {
  const parts = uuidForm.exec(text.trim());
  return parts ? parts.slice(1).join('-').toLowerCase() : undefined;
};

/** The same names as in Ironic. */
export const isLogicalName = (text: string): boolean => /^[A-Za-z0-9._~-]{1,255}$/.test(text);

export const isMac = (text: string): boolean => /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(text);

export type UuidRange = { readonly lowest: string; readonly highest: string };

/** The UUIDs that begin so, or the one that is spelt so. Undefined if none can. */
export const uuidsFrom = (text: string): UuidRange | undefined => {
  const whole = asUuid(text);
  if (whole !== undefined) return { lowest: whole, highest: whole };
  const lowest = asUuid(`${text}${'00000000-0000-0000-0000-000000000000'.slice(text.length)}`);
  const highest = asUuid(`${text}${'ffffffff-ffff-ffff-ffff-ffffffffffff'.slice(text.length)}`);
  return lowest && highest ? { lowest, highest } : undefined;
};
