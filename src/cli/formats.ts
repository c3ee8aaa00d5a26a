/** Formats of lists and records: `-f` and `-c`, as the OpenStack clients have them. */
import { type Command, Option } from 'commander';
import { Document, isScalar, visit } from 'yaml';
import { stop } from './faults';
import { collect } from './options';
import { escapeMarks, hasMarks, jsonText, type Listing, plainText, sheet, table } from './tables';

/** `columns` are headings of the table or fields of the API; undefined for all. */
export type Output = { readonly format: Format; readonly columns?: readonly string[] };

type Grid = { readonly names: readonly string[]; readonly rows: readonly (readonly unknown[])[] };

// A spreadsheet would run a text that begins so as a formula, as in CSV of the API. A dash alone is an empty cell.
const formula = /^(?:[=+@]|-.)/;

/** A field without a blank, comma or quote needs no quotes: https://www.rfc-editor.org/rfc/rfc4180 */
const csvField = (value: unknown): string => {
  const plain = plainText(value);
  const text = typeof value === 'string' && formula.test(plain) ? `'${plain}` : plain;
  return /^[^\s",;]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
};
const csvText = ({ names, rows }: Grid): string =>
  [names, ...rows].map((row) => `${row.map(csvField).join(',')}\n`).join('');

/** The library prints marks that steer a terminal as they are. Quoted, they can be escaped. */
const yamlText = (value: unknown): string => {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      if (isScalar(node) && typeof node.value === 'string' && hasMarks(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeMarks(document.toString({ lineWidth: 0 }));
};

const objectOf = (names: readonly string[], row: readonly unknown[]) =>
  Object.fromEntries(names.map((name, at) => [name, row[at] ?? null]));
const objectsOf = ({ names, rows }: Grid) => rows.map((row) => objectOf(names, row));

const line = (texts: readonly string[], between: string): string => `${texts.join(between)}\n`;

/** `whole` prints the API's answer itself; formats without it print columns. */
type Renderer = {
  list(grid: Grid, width?: number): string;
  record(grid: Grid): string;
  readonly whole?: (value: unknown) => string;
};

const firstObject = (grid: Grid) => objectsOf(grid)[0]!;
const json = (value: unknown): string => `${jsonText(value, 2)}\n`;

const renderers = {
  table: { list: ({ names, rows }, width) => table(names, rows, width), record: (grid) => sheet(firstObject(grid)) },
  json: { list: (grid) => json(objectsOf(grid)), record: (grid) => json(firstObject(grid)), whole: json },
  yaml: { list: (grid) => yamlText(objectsOf(grid)), record: (grid) => yamlText(firstObject(grid)), whole: yamlText },
  csv: { list: csvText, record: csvText },
  value: {
    list: ({ rows }) => rows.map((row) => line(row.map(plainText), ' ')).join(''),
    record: ({ rows }) => line(rows[0]!.map(plainText), '\n'),
  },
} satisfies Record<string, Renderer>;
type Format = keyof typeof renderers;

const unknownColumn = (name: string, known: readonly string[]): never =>
  stop('usage', `There is no column ${plainText(name)}. Give one of: ${known.map(plainText).join('; ')}.`);

/** A heading prints its cell, a field the API's value. Headings are in capitals, fields are not. */
const listGrid = <Row>(rows: readonly Row[], { headings, cells }: Listing<Row>, names: readonly string[]): Grid => {
  const fields = new Set(rows.flatMap((row) => Object.keys(row as object)));
  const getters = names.map((name) => {
    const at = headings.indexOf(name);
    if (at < 0 && rows.length > 0 && !fields.has(name)) unknownColumn(name, [...headings, ...fields]);
    return (row: Row) => (at < 0 ? (row as Readonly<Record<string, unknown>>)[name] : cells(row)[at]);
  });
  return { names, rows: rows.map((row) => getters.map((get) => get(row))) };
};

const recordGrid = (value: object, names: readonly string[]): Grid => {
  const fields: Readonly<Record<string, unknown>> = { ...value };
  for (const name of names) if (!Object.hasOwn(fields, name)) unknownColumn(name, Object.keys(fields));
  return { names, rows: [names.map((name) => fields[name])] };
};

/** @param answer of the API, which holds the rows */
export const listText = <Row>(
  { format, columns }: Output,
  answer: unknown,
  rows: readonly Row[],
  listing: Listing<Row>,
  width?: number,
): string => {
  const renderer: Renderer = renderers[format];
  if (columns === undefined && renderer.whole) return renderer.whole(answer);
  if (columns === undefined && format === 'table') return listing(rows, width);
  return renderer.list(listGrid(rows, listing, columns ?? listing.headings), width);
};

export const recordText = <T>({ format, columns }: Output, value: T, toText: (value: T) => string): string => {
  const renderer: Renderer = renderers[format];
  if (columns === undefined && renderer.whole) return renderer.whole(value);
  if (columns === undefined && format === 'table') return toText(value);
  return renderer.record(recordGrid(value as object, columns ?? Object.keys(value as object)));
};

const formatFlag = '-f';

/** For a command that prints a list or one record. */
export const withFormats = (command: Command): Command =>
  command
    .addOption(new Option(`${formatFlag}, --format <format>`, 'of the output').choices(Object.keys(renderers)))
    .option(
      '-c, --column <column>',
      'only this column, a heading or a field of the API; may come several times',
      collect,
    );

/** Other commands may have a `--format` of their own. */
const hasFormats = (command: Command): boolean => command.options.some(({ short }) => short === formatFlag);

type OutputOptions = { readonly format?: Format; readonly column?: string[] };

/** The options that are the command's own: lists send theirs to the API. */
export const withoutFormats = (command: Command, options: OutputOptions): object => {
  if (!hasFormats(command)) return options;
  const { format: _, column: __, ...own } = options;
  return own;
};

/** Throws CliFault (usage). */
export const outputOf = (command: Command): Output => {
  const { json: asJson = false } = command.optsWithGlobals<{ readonly json?: boolean }>();
  if (!hasFormats(command)) return { format: asJson ? 'json' : 'table' };
  const { format, column } = command.opts<OutputOptions>();
  if (asJson && format !== undefined && format !== 'json') stop('usage', 'Give --json or --format, not both.');
  return { format: format ?? (asJson ? 'json' : 'table'), columns: column };
};
