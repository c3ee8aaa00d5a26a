/** Tables of a page. Its address holds filters, columns, order and page. */
import type { ComponentChildren } from 'preact';
import { addressWith, type PageQuery } from '../server/api';
import { Empty } from './texts';

export type Column<Row> = {
  readonly title: string;
  readonly of: (row: Row) => ComponentChildren;
  /** The API's sort key; absent if unsortable. */
  readonly sort?: string;
  /** Holds sentences, so its lines wrap. */
  readonly long?: boolean;
  /** Is shown only if the address asks for it. */
  readonly optional?: boolean;
  /** Holds the boxes by which rows are selected. */
  readonly ticks?: boolean;
};

const Head = <Row,>({ column, path, query }: { column: Column<Row>; path: string; query: PageQuery }) => {
  const { title, sort, ticks } = column;
  if (ticks)
    return (
      <th scope="col" class="tick">
        <span class="hidden">{title}</span>
        <input type="checkbox" id="tick-all" aria-label="Select all rows of this page" autocomplete="off" hidden />
      </th>
    );
  if (!sort) return <th scope="col">{title}</th>;
  const by = query.sort_key === sort;
  const down = query.sort_dir === 'desc';
  const sort_dir = by && !down ? 'desc' : undefined;
  return (
    <th scope="col" aria-sort={by ? (down ? 'descending' : 'ascending') : undefined}>
      <a href={addressWith(path, query, { sort_key: sort, sort_dir, marker: undefined })}>
        {title}
        {by && <span aria-hidden="true">{down ? ' ↓' : ' ↑'}</span>}
      </a>
    </th>
  );
};

/** On a phone a cell names its column, unless its content says what it is. */
const Cell = <Row,>({ column, row, at }: { column: Column<Row>; row: Row; at: number }) => {
  const { title, of, long, ticks } = column;
  const value = of(row);
  const none = value === null || value === undefined || value === false || value === '';
  const style = ticks ? 'tick' : [long && 'long', none && 'none'].filter(Boolean).join(' ');
  return (
    <td class={style || undefined} data-label={ticks || at < 2 || title === 'State' ? undefined : title}>
      {none ? '–' : value}
    </td>
  );
};

/** Key of a row, and the sentence that is read out if it has changed. */
export type RowNews<Row> = (row: Row) => { readonly key: string; readonly says: string };

export type TableProps<Row> = {
  readonly caption: string;
  /** Shows the caption as a heading; otherwise only screen readers get it. */
  readonly heading?: boolean;
  /** Undefined if the caller may not read the rows. */
  readonly rows: readonly Row[] | undefined;
  readonly columns: readonly Column<Row>[];
  readonly path?: string;
  readonly query?: PageQuery;
  /** Replaces a table without rows. */
  readonly empty?: ComponentChildren;
  readonly newsOf?: RowNews<Row>;
};

const NoRows = ({ rows, empty }: Pick<TableProps<unknown>, 'rows' | 'empty'>) => {
  if (!rows) return <Empty icon="shield-check" title="You don’t have access to this." />;
  return typeof empty === 'string' ? <Empty title={empty} /> : <div class="stack">{empty}</div>;
};

const Rows = <Row,>({ caption, rows, columns, path = '', query = {}, newsOf }: TableProps<Row>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by the keyboard
  <section class="table" tabIndex={0} aria-label={caption}>
    <table>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={column.title} column={column} path={path} query={query} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows?.map((row, at) => {
          const news = newsOf?.(row);
          return (
            <tr key={at} id={news && `row-${news.key}`} data-key={news?.key} data-says={news?.says}>
              {columns.map((column, place) => (
                <Cell key={column.title} column={column} row={row} at={place} />
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  </section>
);

/** A cell without a value holds a dash. */
export const Table = <Row,>(props: TableProps<Row>) => {
  const { caption, heading, rows, empty } = props;
  if (rows?.length === 0 && !empty) return null;
  return (
    <>
      {heading && <h2>{caption}</h2>}
      {rows?.length ? <Rows {...props} /> : <NoRows rows={rows} empty={empty} />}
    </>
  );
};

type PagerProps = { readonly path: string; readonly query: PageQuery; readonly next: string | undefined };

/** @param next marker of the next page, if any */
export const Pager = ({ path, query, next }: PagerProps) =>
  next === undefined && query.marker === undefined ? null : (
    <nav class="pager" aria-label="Pages">
      {query.marker !== undefined && (
        <a class="button" href={addressWith(path, query, { marker: undefined })}>
          First page
        </a>
      )}
      {next !== undefined && (
        <a class="button" href={addressWith(path, query, { marker: next })}>
          Next page
        </a>
      )}
    </nav>
  );

type CountProps = { readonly many: number; readonly more: boolean; readonly later: boolean; readonly total?: number };

/** Number of rows on the page, and of all rows if it is known. */
export const Count = ({ many, more, later, total }: CountProps) => {
  const rows = `${many} ${many === 1 ? 'row' : 'rows'}`;
  if (total !== undefined) return <span>{many === total ? rows : `${rows} of ${total}`}</span>;
  return <span>{more ? `${later ? 'These' : 'First'} ${rows}, more follow` : later ? `Last ${rows}` : rows}</span>;
};

export const pageSize = 50;

/** `rows` has one row more than the page shows if another page follows. */
export const pageOf = <Row,>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
): { readonly shown: readonly Row[]; readonly next: string | undefined } => {
  const shown = rows.slice(0, pageSize);
  return { shown, next: rows.length > pageSize ? idOf(shown.at(-1)!) : undefined };
};
