/** List pages: the address holds filters and page, and events reload the rows. */
import type { ComponentChildren } from 'preact';
import type { PageAnswer, PageContext, PageQuery } from '../server/context';
import { Choice, Field, type Option, Send } from './forms';
import { Live } from './live';
import { type Column, Pager, pageOf, pageSize, Table } from './tables';
import { Title } from './texts';

export type Filter = {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Permitted values; any text if absent. */
  readonly options?: readonly Option[];
  /** Default filter value; no filter if absent. */
  readonly unset?: string;
};

type FiltersProps = { readonly path: string; readonly query: PageQuery; readonly filters: readonly Filter[] };

export const Filters = ({ path, query, filters }: FiltersProps) => (
  <form method="get" action={path} class="row" aria-label="Filters" id="filters" hx-preserve="true">
    {filters.map(({ options, unset, ...field }) =>
      options ? (
        <Choice
          key={field.name}
          {...field}
          value={query[field.name] ?? unset}
          options={unset === undefined ? [['', 'any'], ...options] : options}
        />
      ) : (
        <Field key={field.name} {...field} value={query[field.name]} />
      ),
    )}
    <Send label="Filter" />
    <a href={path}>Without filters</a>
  </form>
);

/** Drops other parameters of an address. */
export const wantedOf = (query: PageQuery, names: readonly string[]): PageQuery =>
  Object.fromEntries([...names, 'marker'].map((name) => [name, query[name] || undefined]));

type Around = { readonly aside?: ComponentChildren; readonly above?: ComponentChildren; readonly below?: ComponentChildren }; // biome-ignore format: one row

export type List<Row> = {
  readonly title: string;
  readonly path: string;
  /** Path of the list at the API. */
  readonly from: string;
  readonly filters?: readonly Filter[];
  /** Further query parameters that the page keeps. */
  readonly also?: readonly string[];
  readonly fixed?: PageQuery;
  readonly columns: readonly Column<Row>[];
  readonly markerOf: (row: Row) => string;
  readonly empty: ComponentChildren;
  /** Change stream; without it the rows stay as sent. */
  readonly events?: string;
  readonly around?: () => Promise<Around>;
};

export const listPage = async <Row,>({ api, query }: PageContext, list: List<Row>): Promise<PageAnswer> => {
  const { title, path, filters = [], also = [], columns } = list;
  const wanted = wantedOf(query, [...filters.map(({ name }) => name), ...also]);
  const [found, around] = await Promise.all([
    api.list<Row>(list.from, { ...wanted, ...list.fixed, limit: pageSize + 1 }),
    list.around?.(),
  ]);
  const { shown, next } = pageOf(found, list.markerOf);
  const filtered = filters.some(({ name }) => wanted[name] !== undefined);
  const none = <>Nothing that you may see is so. <a href={path}>Show all without filters.</a></>; // biome-ignore format: one sentence
  const body = (
    <>
      <Title text={title}>{around?.aside}</Title>
      {filters.length > 0 && <Filters path={path} query={query} filters={filters} />}
      <Live id="list" events={list.events} path={path} query={wanted}>
        {around?.above}
        <Table
          caption={title}
          rows={shown}
          {...{ columns, path, query: wanted }}
          empty={filtered ? none : list.empty}
        />
        <Pager path={path} query={wanted} next={next} />
      </Live>
      {around?.below}
    </>
  );
  return { title, body };
};
