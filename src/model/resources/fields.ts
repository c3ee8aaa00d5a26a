/** The shape of a resource's table: one row per field, used for representation, validation, PATCH and lists. */

/**
 * `text`, `boolean`, `integer`, `object` and `texts` (a list of strings) are types of the API. `uuid` is a text in canonical form.
 * `timestamp` is a Date in the row. `list` is any JSON list. `links` is computed.
 */
type FieldType = 'text' | 'uuid' | 'boolean' | 'integer' | 'object' | 'texts' | 'list' | 'timestamp' | 'links';

export type FieldRow = {
  /** Its name in JSON, in `fields=`, and in SQL unless `column` differs. */
  readonly name: string;
  /** Minor version from which the field exists. Default 1. */
  readonly since?: number;
  /**
   * A field outside Ironic's API. Every minor version may write it, and shows it only if `fields=` names it, so that answers to Ironic's
   * clients stay unchanged.
   */
  readonly wire?: 'temper';
  readonly type: FieldType;
  /** Links in separate lists, as in Ironic. */
  readonly nested?: true;
  /** True if null is accepted. A null object is stored and shown as `{}`, a list as `[]`. */
  readonly nullable?: true;
  /** Column to read. Default: its name. Null: none, an extra of the resource computes it. */
  readonly column?: string | null;
  /** Part of a list without `detail` and `fields`. */
  readonly inList?: true;
  /** Left out if the request has `fields=`, which cannot name it. */
  readonly unlessFields?: true;
  /** Shown for every choice of fields. */
  readonly always?: true;
  /** Accepted on write only, never shown. */
  readonly hidden?: true;
  /** Default: true for everything except objects, lists and links. */
  readonly sortable?: boolean;
  /** True fields may or must be in a create request. Absent: refused as unknown. */
  readonly create?: 'optional' | 'required';
  /** The rule for its change by PATCH. Absent: read-only. */
  readonly patch?: string;
  /** PATCH may replace it but not remove it. */
  readonly kept?: true;
  /** Minor version from which PATCH may name it, if later than `since`. */
  readonly patchSince?: number;
  /** The value without one in a create request, and after `remove`. Default: null, `{}` or `[]` by type. */
  readonly default?: unknown;
  /** Longest text, in characters; largest integer. */
  readonly max?: number;
  /** Shortest text, default 0; smallest integer. */
  readonly min?: number;
  readonly oneOf?: readonly string[];
  /** A further condition on a text, and the text of its refusal. */
  readonly form?: { readonly is: (text: string) => boolean; readonly says: string };
  /** Texts are stored in lower case. */
  readonly lower?: true;
  /** Shown as null if hidden from all callers, although never stored as null. */
  readonly shownNull?: true;
  /** Secret: the row holds references, answers show `******`. */
  readonly secret?: true;
  /** A text that may contain the BMC's address. It is removed for callers whom this rule refuses. */
  readonly withoutBmc?: { readonly rule: string };
  /** The text shown to a caller whom `rule` refuses. */
  readonly redact?: { readonly rule: string; readonly shown: unknown };
};

/** A list filter. `equals` becomes a predicate; all others are passed to the list by name. */
export type FilterRow = {
  readonly name: string;
  /** Default 1. */
  readonly since?: number;
  readonly type: 'text' | 'uuid' | 'boolean' | 'texts';
  /** Column that equals the value (any of the values for `texts`). Absent: the resource's handler applies the filter. */
  readonly column?: string;
  /** For booleans: true selects rows whose column is set, false those with null. */
  readonly set?: string;
  /** The column contains the value. */
  readonly contains?: true;
  readonly oneOf?: readonly string[];
};

export type ResourceTable = {
  /** Singular and plural in the API: `node`, `nodes`. */
  readonly resource: string;
  readonly collection: string;
  readonly fields: readonly FieldRow[];
  readonly filters: readonly FilterRow[];
};

export const sinceOf = (row: { readonly since?: number }): number => row.since ?? 1;

/** The column of a field; undefined if it is computed. */
export const columnOf = (row: FieldRow): string | undefined =>
  row.column === null ? undefined : (row.column ?? row.name);

const unsortable: readonly FieldType[] = ['object', 'list', 'texts', 'links'];

/** True if a field may be a sort key. */
export const isSortable = (row: FieldRow): boolean =>
  row.sortable ?? (!unsortable.includes(row.type) && row.column !== null && !row.hidden);

const rowsByName = new WeakMap<ResourceTable, ReadonlyMap<string, FieldRow>>();

const rowsOf = (table: ResourceTable): ReadonlyMap<string, FieldRow> => {
  const known = rowsByName.get(table);
  if (known) return known;
  const made = new Map(table.fields.map((row) => [row.name, row]));
  rowsByName.set(table, made);
  return made;
};

/** A field's row by name. It uses a map, because each written value needs it. */
export const fieldOf = (table: ResourceTable, name: string): FieldRow | undefined => rowsOf(table).get(name);

/** The value after `remove` and without one in a create request: the row's default, or the empty value of its type. */
export const emptyValue = (row: FieldRow): unknown => {
  if (row.default !== undefined) return row.default;
  if (row.type === 'object') return {};
  return row.type === 'list' || row.type === 'texts' ? [] : null;
};

/** Fields of a list without `detail` and `fields`, at this minor version. */
export const listFields = (table: ResourceTable, minor: number): FieldRow[] =>
  shownFields(table, minor).filter((row) => row.inList || row.always);

/** All fields that this minor version shows by default. */
export const shownFields = (table: ResourceTable, minor: number): FieldRow[] =>
  namedFields(table, minor).filter((row) => row.wire !== 'temper');

/** All fields that this minor version may name. */
export const namedFields = (table: ResourceTable, minor: number): FieldRow[] =>
  table.fields.filter((row) => !row.hidden && sinceOf(row) <= minor);

/** Names that `fields=` accepts at any version. */
export const choosable = (table: ResourceTable): string[] =>
  table.fields.filter((row) => !row.hidden && !row.unlessFields).map((row) => row.name);

/** First parts of paths that PATCH accepts. */
export const patchable = (table: ResourceTable): string[] =>
  table.fields.filter((row) => row.patch !== undefined).map((row) => row.name);
