/** List pages: the address holds view, filters, columns, order and page, and events reload the rows. */
import type { ComponentChildren } from 'preact';
import { ApiRefusal, addressWith, type PageQuery } from '../server/api';
import type { PageAnswer, PageContext } from '../server/context';
import { ColumnChoice, chosenColumns, columnsIn } from './columns';
import { Choice, Field, type FieldProps, Hidden, type Option, Send } from './forms';
import { Live } from './live';
import { type Column, Count, Pager, pageOf, pageSize, type RowNews, Table } from './tables';
import { Empty, Notice, Title } from './texts';

export type Filter = {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Permitted values; any text if absent. */
  readonly options?: readonly Option[];
  readonly type?: FieldProps['type'];
  /** Offered while one types, each with words for it. */
  readonly suggestions?: readonly (readonly [value: string, words: string])[];
  /** Default filter value; no filter if absent. */
  readonly unset?: string;
};

/** A view has a name; its address is what it is. */
type View = readonly [label: string, query: PageQuery];

/** Refusal of a filter; the form keeps its values. */
type FilterFault = { readonly field: string | undefined; readonly says: string; readonly status?: number };

type FiltersProps = {
  readonly path: string;
  readonly query: PageQuery;
  readonly filters: readonly Filter[];
  readonly fault?: FilterFault;
  /** Parameters that the form keeps, such as order and columns. */
  readonly kept?: PageQuery;
};

const hiddenOf = (query: PageQuery): Record<string, string> =>
  Object.fromEntries(Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])));

const Suggestions = ({ id, suggestions }: { id: string; suggestions: NonNullable<Filter['suggestions']> }) => (
  <datalist id={id}>
    {suggestions.map(([value, words]) => (
      <option key={value} value={value} label={words} />
    ))}
  </datalist>
);

export const Filters = ({ path, query, filters, fault, kept = {} }: FiltersProps) => (
  <form method="get" action={path} class="row" aria-label="Filters" id="filters">
    <Hidden fields={hiddenOf(kept)} />
    {filters.map(({ options, unset, suggestions, ...field }) => {
      const says = fault?.field === field.name ? fault.says : undefined;
      return options ? (
        <Choice
          key={field.name}
          {...field}
          fault={says}
          value={query[field.name] ?? unset}
          options={unset === undefined ? [['', 'any'], ...options] : options}
        />
      ) : (
        <Field
          key={field.name}
          {...field}
          fault={says}
          value={query[field.name]}
          list={suggestions && `${field.name}-list`}
        />
      );
    })}
    {filters.map(
      ({ name, suggestions }) =>
        suggestions && <Suggestions key={name} id={`${name}-list`} suggestions={suggestions} />,
    )}
    <Send label="Filter" />
    {filters.some(({ name, unset }) => query[name] && query[name] !== unset) && (
      <a class="button" href={addressWith(path, kept)}>
        Clear filters
      </a>
    )}
  </form>
);

/** Drops other parameters of an address. */
export const wantedOf = (query: PageQuery, names: readonly string[]): PageQuery =>
  Object.fromEntries([...names, 'marker'].map((name) => [name, query[name] || undefined]));

type Around = { readonly end?: ComponentChildren; readonly above?: ComponentChildren; readonly below?: ComponentChildren; readonly total?: number }; // biome-ignore format: one row

export type List<Row> = {
  readonly title: string;
  readonly path: string;
  /** Path of the list at the API. */
  readonly from: string;
  readonly filters?: readonly Filter[];
  readonly views?: readonly View[];
  /** Further query parameters that the page keeps. */
  readonly also?: readonly string[];
  readonly fixed?: PageQuery;
  readonly columns: readonly Column<Row>[];
  readonly markerOf: (row: Row) => string;
  readonly newsOf?: RowNews<Row>;
  readonly empty: ComponentChildren;
  /** Change stream; without it the rows stay as sent. */
  readonly events?: string;
  readonly around?: (filtered: boolean) => Promise<Around>;
};

const Views = ({ path, views, query }: { path: string; views: readonly View[]; query: PageQuery }) => {
  const isShown = (wanted: PageQuery): boolean =>
    views.every(([, other]) => Object.keys(other).every((name) => (query[name] || undefined) === wanted[name]));
  return (
    <nav class="pills" aria-label="Views">
      {views.map(([label, wanted]) => (
        <a key={label} href={addressWith(path, wanted)} aria-current={isShown(wanted) ? 'true' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
};

/** The API begins a refusal of a parameter with its name. A node that is not found is a fault of the field that names it. */
const faultOf = (thrown: unknown, filters: readonly Filter[], wanted: PageQuery): FilterFault => {
  if (!(thrown instanceof ApiRefusal)) throw thrown;
  if (thrown.status === 404 && wanted.node && filters.some(({ name }) => name === 'node'))
    return { field: 'node', says: thrown.says, status: 404 };
  if (thrown.status !== 400) throw thrown;
  const field = filters.find(({ name }) => thrown.says.startsWith(`${name}: `))?.name;
  return { field, says: field ? thrown.says.slice(field.length + 2) : thrown.says };
};

type FoundRows<Row> = { readonly rows: readonly Row[]; readonly fault?: FilterFault };

const foundRows = async <Row,>({ api }: PageContext, list: List<Row>, wanted: PageQuery): Promise<FoundRows<Row>> => {
  const { filters = [], from, fixed } = list;
  try {
    return { rows: await api.list<Row>(from, { ...wanted, ...fixed, limit: pageSize + 1 }) };
  } catch (thrown) {
    return { rows: [], fault: faultOf(thrown, filters, wanted) };
  }
};

const NoMatch = ({ path }: { path: string }) => (
  <Empty icon="list-filter" title="No rows match.">
    <a class="button" href={path}>
      Clear filters
    </a>
  </Empty>
);

export const listPage = async <Row,>(context: PageContext, list: List<Row>): Promise<PageAnswer> => {
  const { title, path, filters = [], also = [], views = [], columns } = list;
  const column = columnsIn(context.path, columns);
  const asked = wantedOf(context.query, [...filters.map(({ name }) => name), ...also]);
  const filtered = filters.some(({ name }) => asked[name] !== undefined);
  const [{ rows, fault }, around] = await Promise.all([foundRows(context, list, asked), list.around?.(filtered)]);
  const { shown, next } = pageOf(rows, list.markerOf);
  const wanted = { ...asked, column };
  const kept = { column, sort_key: asked.sort_key, sort_dir: asked.sort_dir };
  const later = asked.marker !== undefined;
  const body = (
    <>
      <Title text={title} end={around?.end} />
      {views.length > 0 && <Views path={path} views={views} query={asked} />}
      {filters.length > 0 && (
        <div class="tools">
          <Filters path={path} query={context.query} filters={filters} fault={fault} kept={kept} />
          <ColumnChoice path={path} query={asked} columns={columns} chosen={column} />
        </div>
      )}
      {fault && !fault.field && <Notice tone="bad" role="alert" says={fault.says} />}
      <Live id="list" events={list.events} path={path} query={wanted}>
        {around?.above}
        <Table
          caption={title}
          rows={shown}
          columns={chosenColumns(columns, column)}
          {...{ path, query: wanted, newsOf: list.newsOf }}
          empty={filtered || later ? <NoMatch path={path} /> : list.empty}
        />
        <div class="foot-line">
          {shown.length > 0 && <Count many={shown.length} more={next !== undefined} later={later} total={around?.total} />}
          <Pager path={path} query={wanted} next={next} />
        </div>
      </Live>
      {around?.below}
    </>
  ); // biome-ignore format: short parts
  return { title, body, ...(fault && { status: fault.status ?? 400 }) };
};
