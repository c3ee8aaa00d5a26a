/** Tables of a page. Its address holds filters, order and page. */
import type { ComponentChildren } from 'preact';
import { addressWith } from '../server/api';
import type { PageQuery } from '../server/context';

export type Column<Row> = {
  readonly title: string;
  readonly of: (row: Row) => ComponentChildren;
  /** The API's sort key; absent if unsortable. */
  readonly sort?: string;
};

const Head = <Row,>({ column, path, query }: { column: Column<Row>; path: string; query: PageQuery }) => {
  if (!column.sort) return <th scope="col">{column.title}</th>;
  const by = query.sort_key === column.sort;
  const down = query.sort_dir === 'desc';
  const sort_dir = by && !down ? 'desc' : undefined;
  return (
    <th scope="col" aria-sort={by ? (down ? 'descending' : 'ascending') : undefined}>
      <a href={addressWith(path, query, { sort_key: column.sort, sort_dir, marker: undefined })}>
        {column.title}
        {by && <span aria-hidden="true">{down ? ' ↓' : ' ↑'}</span>}
      </a>
    </th>
  );
};

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
};

/** A cell without a value holds a dash. */
export const Table = <Row,>({ caption, heading, rows, columns, path = '', query = {}, empty }: TableProps<Row>) =>
  rows?.length === 0 && !empty ? null : (
    <>
      {heading && <h2>{caption}</h2>}
      {!rows?.length ? (
        <p class="empty">{rows ? empty : 'The rules do not show it to you.'}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by the keyboard
        <section class="scroll" tabIndex={0} aria-label={caption}>
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
              {rows.map((row, at) => (
                <tr key={at}>
                  {columns.map(({ title, of }) => (
                    <td key={title}>{of(row) ?? '–'}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );

/** @param next marker of the next page, if any */
export const Pager = ({ path, query, next }: { path: string; query: PageQuery; next: string | undefined }) =>
  next === undefined && query.marker === undefined ? null : (
    <nav class="pager" aria-label="Pages">
      {query.marker !== undefined && <a href={addressWith(path, query, { marker: undefined })}>First page</a>}
      {next !== undefined && <a href={addressWith(path, query, { marker: next })}>Next page</a>}
    </nav>
  );

export const pageSize = 50;

/** `rows` has one row more than the page shows if another page follows. */
export const pageOf = <Row,>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
): { readonly shown: readonly Row[]; readonly next: string | undefined } => {
  const shown = rows.slice(0, pageSize);
  return { shown, next: rows.length > pageSize ? idOf(shown.at(-1)!) : undefined };
};
