/** Rows as wire objects. Field lists are compiled once per minor version. */
import { withoutBmc } from '../../model/access/bmc-texts';
import { maskSecrets } from '../../model/access/secrets';
import {
  columnOf,
  emptyValue,
  type FieldRow,
  listFields,
  namedFields,
  type ResourceTable,
  shownFields,
} from '../../model/resources/fields';
import { onceOnly } from '../once-only';
import { compileLine, type LineTexts } from './line-texts';
import type { Extra, RepresentedRow, Shown } from './shown';

export { type Extra, links, linksTo, type Shown } from './shown';

type Represent = (row: RepresentedRow, shown: Shown) => Record<string, unknown>;

type Chosen = { readonly fields?: readonly string[]; readonly detail?: boolean };

/** A compiled field list: for one row, and for a list page that PostgreSQL writes. */
export type Projection = {
  readonly represent: Represent;
  readonly lines: (shown: Shown) => LineTexts;
};

/** ISO 8601 in UTC as Ironic writes it: an offset instead of `Z`, microseconds only if not zero. */
export const timestamp = (date: Date): string => {
  const iso = date.toISOString();
  const millis = iso.slice(20, 23);
  return millis === '000' ? `${iso.slice(0, 19)}+00:00` : `${iso.slice(0, 19)}.${millis}000+00:00`;
};

/** Columns that decide about hidden fields. */
const decidedBy = ['owner', 'lessee'] as const;

type Reading = {
  readonly extras: Readonly<Record<string, Extra>>;
  /** Columns to read for any fields. */
  readonly needs: readonly string[];
  /** Columns that a field needs beside its own. */
  readonly beside: Readonly<Record<string, readonly string[]>>;
};

const compileProjection = (
  { extras, needs, beside }: Reading,
  rows: readonly FieldRow[],
  minor: number,
): Projection => {
  const readers = rows.map((row) => [row.name, reader(row, extras[row.name], minor)] as const);
  const line = (everything: boolean) =>
    onceOnly(() => {
      const columnsFor = (row: FieldRow): string[] => [...needs, ...columnsOf(row, beside[row.name])];
      return compileLine(rows, { extras, columnsFor, minor, everything });
    });
  const [whole, guarded] = [line(true), line(false)];
  return {
    lines: ({ hides }) => (hides ? guarded() : whole()),
    represent: (row, shown) => {
      const out: Record<string, unknown> = {};
      for (const [name, read] of readers) out[name] = read(row, shown);
      return out;
    },
  };
};

/**
 * The projections of one resource. `extras` and `beside` are by field name.
 * `needs` are columns to read for any fields, `beside` further columns of a field.
 */
export const projections = (
  table: ResourceTable,
  extras: Readonly<Record<string, Extra>>,
  needs: readonly string[] = ['uuid'],
  beside: Readonly<Record<string, readonly string[]>> = {},
) => {
  const known = new Map<string, Projection>();
  const compile = (rows: readonly FieldRow[], minor: number): Projection =>
    compileProjection({ extras, needs, beside }, rows, minor);

  const once = (key: string, minor: number, rows: () => readonly FieldRow[]): Projection => {
    const found = known.get(`${key}${minor}`);
    if (found) return found;
    const made = compile(rows(), minor);
    known.set(`${key}${minor}`, made);
    return made;
  };

  /** Not cached: there are too many combinations. */
  const chosen = (names: readonly string[], minor: number): Projection => {
    const wanted = new Set(names);
    return compile(
      namedFields(table, minor).filter((row) => wanted.has(row.name) || row.always),
      minor,
    );
  };
  const full = (minor: number): Projection => once('full', minor, () => shownFields(table, minor));

  return {
    full,
    /** Fields of a list: the chosen ones with `links`, all, or the default ones. */
    ofList: (minor: number, { fields, detail }: Chosen): Projection =>
      fields ? chosen(fields, minor) : detail ? full(minor) : once('list', minor, () => listFields(table, minor)),
    /** Fields of a single object: the chosen ones with `links`, or all. */
    ofOne: (minor: number, fields?: readonly string[]): Projection => (fields ? chosen(fields, minor) : full(minor)),
  };
};

/** Columns that decide if the field is hidden. */
const decidedFor = (row: FieldRow): readonly string[] => (row.redact || row.withoutBmc ? decidedBy : []);

const columnsOf = (row: FieldRow, beside: readonly string[] = []): string[] => [
  ...[columnOf(row) ?? []].flat(),
  ...decidedFor(row),
  ...beside,
];

type Reader = (row: RepresentedRow, shown: Shown) => unknown;

const reader = (field: FieldRow, extra: Extra | undefined, minor: number): Reader => {
  const plain: Reader = extra ? (row, shown) => extra(row, shown, minor) : columnReader(field);
  const safe: Reader = field.secret ? (row, shown) => maskSecrets(plain(row, shown)) : plain;
  if (field.withoutBmc) {
    const { rule } = field.withoutBmc;
    return (row, shown) => {
      const text = safe(row, shown);
      return typeof text === 'string' && shown.hides?.(rule, row) ? withoutBmc(text) : text;
    };
  }
  if (!field.redact) return safe;
  const { rule, shown: instead } = field.redact;
  return (row, shown) => (shown.hides?.(rule, row) ? instead : safe(row, shown));
};

const columnReader = (field: FieldRow): Reader => {
  const column = columnOf(field)!;
  switch (field.type) {
    case 'timestamp':
      return (row) => (row[column] instanceof Date ? timestamp(row[column]) : null);
    case 'object':
    case 'list':
    case 'texts': {
      const empty = emptyValue({ ...field, default: undefined });
      return (row) => row[column] ?? empty;
    }
    default:
      return (row) => row[column] ?? null;
  }
};
