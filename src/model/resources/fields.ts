/** The shape of a resource's table: one row per field, from which representation, validation, patch and lists are walked. */

/**
 * `text`, `boolean`, `integer`, `object` and `texts` (a list of strings) are the wire's types. `uuid` is a text that is
 * brought to its canonical form. `timestamp` is a Date in the row. `list` is any JSON list. `links` is computed.
 */
type FieldType = 'text' | 'uuid' | 'boolean' | 'integer' | 'object' | 'texts' | 'list' | 'timestamp' | 'links';

export type FieldRow = {
  /** The wire's name: in JSON, in `fields=`, and in SQL unless `column` says otherwise. */
  readonly name: string;
  /** Minor version from which the field exists. Default 1. */
  readonly since?: number;
  /**
   * A field of Temper's own, which no microversion knows: every version may write it, and sees it where it names it with
   * `fields=`. Clients of Ironic's wire, which do not name it, are answered as before.
   */
  readonly wire?: 'temper';
  readonly type: FieldType;
  /** Links that lie in lists of their own, as the original has it. */
  readonly nested?: true;
  /** Whether null is accepted. An object that is null is stored and shown as `{}`, a list as `[]`. */
  readonly nullable?: true;
  /** Column of the row it is read from. Default: its name. Null: none, an extra of the resource computes it. */
  readonly column?: string | null;
  /** Part of a list without `detail` and `fields`. */
  readonly inList?: true;
  /** Left out where the caller chose fields with `fields=`, and not choosable. */
  readonly unlessFields?: true;
  /** Shown whatever the caller chose. */
  readonly always?: true;
  /** Not shown at all: accepted on write only. */
  readonly hidden?: true;
  /** Default: everything but objects, lists and links may be a sort key. */
  readonly sortable?: boolean;
  /** Whether a create request may or must carry it. Absent: refused as unknown. */
  readonly create?: 'optional' | 'required';
  /** The rule that its change by PATCH needs. Absent: read-only. */
  readonly patch?: string;
  /** A patch may replace it and not remove it. */
  readonly kept?: true;
  /** Minor version from which a patch may name it, where that is later than `since`. */
  readonly patchSince?: number;
  /** What a create request without it stores, and what `remove` sets. Default: null, `{}` or `[]` by type. */
  readonly default?: unknown;
  /** Longest text, in characters; largest integer. */
  readonly max?: number;
  /** Shortest text, default 0; smallest integer. */
  readonly min?: number;
  readonly oneOf?: readonly string[];
  /** What else a text must look like, and how a refusal says so. */
  readonly form?: { readonly is: (text: string) => boolean; readonly says: string };
  /** Texts are stored in lower case. */
  readonly lower?: true;
  /** Shown as null where it is hidden from all callers, though never stored so. */
  readonly shownNull?: true;
  /** Secrets: the store holds references, the wire shows `******`. */
  readonly secret?: true;
  /** A text that may say where the node's BMC is: to a caller whom this rule refuses it does not. */
  readonly withoutBmc?: { readonly rule: string };
  /** What is shown instead to a caller whom `rule` refuses. */
  readonly redact?: { readonly rule: string; readonly shown: unknown };
};

/** How a list filter selects. All but the first are passed to the store by name; `equals` becomes a predicate. */
export type FilterRow = {
  readonly name: string;
  /** Default 1. */
  readonly since?: number;
  readonly type: 'text' | 'uuid' | 'boolean' | 'texts';
  /** Column that equals the value (any of the values for `texts`). Absent: the resource's handler sees to it. */
  readonly column?: string;
  /** For booleans: true selects rows whose column is set, false those where it is null. */
  readonly set?: string;
  /** The column holds the value somewhere, and need not equal it. */
  readonly contains?: true;
  readonly oneOf?: readonly string[];
};

export type ResourceTable = {
  /** Singular and plural in the wire's words: `node`, `nodes`. */
  readonly resource: string;
  readonly collection: string;
  readonly fields: readonly FieldRow[];
  readonly filters: readonly FilterRow[];
};

export const sinceOf = (row: { readonly since?: number }): number => row.since ?? 1;

/** The column behind a field, or undefined where it is computed. */
export const columnOf = (row: FieldRow): string | undefined =>
  row.column === null ? undefined : (row.column ?? row.name);

const unsortable: readonly FieldType[] = ['object', 'list', 'texts', 'links'];

/** Whether a field may be a sort key. */
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

/** A field's row by name. Asked for each value that is written, so that it does not walk the table. */
export const fieldOf = (table: ResourceTable, name: string): FieldRow | undefined => rowsOf(table).get(name);

/** What `remove` sets and what a create request leaves: the row's default, or the empty value of its type. */
export const emptyValue = (row: FieldRow): unknown => {
  if (row.default !== undefined) return row.default;
  if (row.type === 'object') return {};
  return row.type === 'list' || row.type === 'texts' ? [] : null;
};

/** Fields of a list without `detail` and `fields`, as this minor version sees them. */
export const listFields = (table: ResourceTable, minor: number): FieldRow[] =>
  shownFields(table, minor).filter((row) => row.inList || row.always);

/** All fields that this minor version sees unasked. */
export const shownFields = (table: ResourceTable, minor: number): FieldRow[] =>
  namedFields(table, minor).filter((row) => row.wire !== 'temper');

/** All fields that this minor version may name. */
export const namedFields = (table: ResourceTable, minor: number): FieldRow[] =>
  table.fields.filter((row) => !row.hidden && sinceOf(row) <= minor);

/** Names that a caller may put into `fields=`, whatever the version. */
export const choosable = (table: ResourceTable): string[] =>
  table.fields.filter((row) => !row.hidden && !row.unlessFields).map((row) => row.name);

/** Names that a patch may begin with. */
export const patchable = (table: ResourceTable): string[] =>
  table.fields.filter((row) => row.patch !== undefined).map((row) => row.name);
