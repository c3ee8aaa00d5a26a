/** Tables of resources: one row per field, for representation, validation, PATCH and lists. */

/**
 * `texts` is a list of strings. `uuid` is a text in canonical form. `timestamp` is a Date in the row. `list` is any JSON list. `links`
 * is computed.
 */
type FieldType = 'text' | 'uuid' | 'boolean' | 'integer' | 'object' | 'texts' | 'list' | 'timestamp' | 'links';

export type FieldRow = {
  /** In JSON, in `fields=`, and in SQL unless `column` differs. */
  readonly name: string;
  /** Minor version. Default 1. */
  readonly since?: number;
  /**
   * Not in Ironic's API. Every minor version may write it, but shows it only if `fields=` names it, so that answers to Ironic's clients
   * stay unchanged.
   */
  readonly wire?: 'temper';
  readonly type: FieldType;
  /** Links in separate lists, as in Ironic. */
  readonly nested?: true;
  /** A null object is stored and shown as `{}`, a list as `[]`. */
  readonly nullable?: true;
  /** Default: its name. Null: an extra of the resource computes it. */
  readonly column?: string | null;
  /** Part of a list without `detail` and `fields`. */
  readonly inList?: true;
  /** Left out if the request has `fields=`, which cannot name it. */
  readonly unlessFields?: true;
  /** Shown for every choice of fields. */
  readonly always?: true;
  /** Write only. */
  readonly hidden?: true;
  /** Default: true except for objects, lists and links. */
  readonly sortable?: boolean;
  /** A create request may or must have it. Absent: refused as unknown. */
  readonly create?: 'optional' | 'required';
  /** The rule for PATCH. Absent: read-only. */
  readonly patch?: string;
  /** PATCH cannot remove it. */
  readonly kept?: true;
  /** Minor version for PATCH, if later than `since`. */
  readonly patchSince?: number;
  /** Value without one in a create request, and after `remove`. Default: null, `{}` or `[]` by type. */
  readonly default?: unknown;
  /** Longest text, in characters; largest integer. */
  readonly max?: number;
  /** Shortest text, default 0; smallest integer. */
  readonly min?: number;
  readonly oneOf?: readonly string[];
  /** A further condition, and the text of its refusal. */
  readonly form?: { readonly is: (text: string) => boolean; readonly says: string };
  /** Stored in lower case. */
  readonly lower?: true;
  /** Shown as null if hidden from all callers, although never stored as null. */
  readonly shownNull?: true;
  /** Rows hold references, answers show `******`. */
  readonly secret?: true;
  /** May contain the BMC's address, which is removed for callers whom this rule refuses. */
  readonly withoutBmc?: { readonly rule: string };
  /** For callers whom `rule` refuses. */
  readonly redact?: { readonly rule: string; readonly shown: unknown };
};

/** `equals` becomes a predicate; other filters are passed to the list by name. */
export type FilterRow = {
  readonly name: string;
  /** Default 1. */
  readonly since?: number;
  readonly type: 'text' | 'uuid' | 'boolean' | 'texts';
  /** Equals the value (any of the values for `texts`). Absent: the resource's handler applies the filter. */
  readonly column?: string;
  /** For booleans: true selects set columns, false null ones. */
  readonly set?: string;
  readonly contains?: true;
  readonly oneOf?: readonly string[];
};

export type ResourceTable = {
  /** Such as `node` and `nodes`. */
  readonly resource: string;
  readonly collection: string;
  readonly fields: readonly FieldRow[];
  readonly filters: readonly FilterRow[];
};

export const sinceOf = (row: { readonly since?: number }): number => row.since ?? 1;

/** Undefined if computed. */
export const columnOf = (row: FieldRow): string | undefined =>
  row.column === null ? undefined : (row.column ?? row.name);

const unsortable: readonly FieldType[] = ['object', 'list', 'texts', 'links'];

export const isSortable = (row: FieldRow): boolean =>
  row.sortable ?? (!unsortable.includes(row.type) && row.column !== null && !row.hidden);

const rowsByName = new WeakMap<ResourceTable, ReadonlyMap<string, FieldRow>>();

const rowMap = (table: ResourceTable): ReadonlyMap<string, FieldRow> => {
  const known = rowsByName.get(table);
  if (known) return known;
  const made = new Map(table.fields.map((row) => [row.name, row]));
  rowsByName.set(table, made);
  return made;
};

/** Uses a map, because each written value needs it. */
export const fieldOf = (table: ResourceTable, name: string): FieldRow | undefined => rowMap(table).get(name);

/** After `remove`, and without a value in a create request. */
export const emptyValue = (row: FieldRow): unknown => {
  if (row.default !== undefined) return row.default;
  if (row.type === 'object') return {};
  return row.type === 'list' || row.type === 'texts' ? [] : null;
};

/** Fields without `detail` and `fields`. */
export const listFields = (table: ResourceTable, minor: number): FieldRow[] =>
  shownFields(table, minor).filter((row) => row.inList || row.always);

/** Default fields of a minor version. */
export const shownFields = (table: ResourceTable, minor: number): FieldRow[] =>
  namedFields(table, minor).filter((row) => row.wire !== 'temper');

/** Fields that a minor version may name. */
export const namedFields = (table: ResourceTable, minor: number): FieldRow[] =>
  table.fields.filter((row) => !row.hidden && sinceOf(row) <= minor);

/** At any version. */
export const choosable = (table: ResourceTable): string[] =>
  table.fields.filter((row) => !row.hidden && !row.unlessFields).map((row) => row.name);

/** First parts of paths in PATCH. */
export const patchable = (table: ResourceTable): string[] =>
  table.fields.filter((row) => row.patch !== undefined).map((row) => row.name);
