/** Columns of a list that the address chooses. */
import type { PageQuery } from '../server/api';
import { Hidden, Send } from './forms';
import { Icon } from './icons';
import type { Column } from './tables';

const keyOf = ({ title }: { title: string }): string => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** A form repeats the parameter; links hold the names in one. Unknown names are dropped. @param address path and query of the request */
export const columnsIn = <Row,>(address: string, columns: readonly Column<Row>[]): string | undefined => {
  const given = new URL(address, 'http://console').searchParams.getAll('column').flatMap((names) => names.split(','));
  const known = columns.map(keyOf).filter((key) => given.includes(key));
  return known.join(',') || undefined;
};

const isFixed = <Row,>(column: Column<Row>, at: number): boolean => column.ticks === true || at === 0;

const isShown = <Row,>(column: Column<Row>, chosen: string | undefined): boolean =>
  chosen === undefined ? !column.optional : chosen.split(',').includes(keyOf(column));

/** The first column, and the one of boxes, cannot be left out. */
export const chosenColumns = <Row,>(columns: readonly Column<Row>[], chosen: string | undefined): Column<Row>[] => {
  const own = columns.filter(({ ticks }) => !ticks);
  return columns.filter((column) => isFixed(column, own.indexOf(column)) || isShown(column, chosen));
};

type ChoiceProps<Row> = {
  readonly path: string;
  readonly query: PageQuery;
  readonly columns: readonly Column<Row>[];
  readonly chosen: string | undefined;
};

export const ColumnChoice = <Row,>({ path, query, columns, chosen }: ChoiceProps<Row>) => {
  const own = columns.filter(({ ticks }) => !ticks);
  const fields = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  return (
    <>
      <button type="button" popovertarget="columns">
        <Icon is="columns-3" />
        Columns
      </button>
      <div id="columns" popover="auto" role="dialog" aria-labelledby="columns-title">
        <form method="get" action={path}>
          <h2 id="columns-title">Columns</h2>
          <Hidden fields={Object.fromEntries(fields)} />
          <input type="hidden" name="column" value={keyOf(own[0]!)} />
          <div class="two">
            {own.slice(1).map((column) => (
              <label key={column.title} class="check">
                <input type="checkbox" name="column" value={keyOf(column)} checked={isShown(column, chosen)} />
                {column.title}
              </label>
            ))}
          </div>
          <div class="foot">
            <Send tone="primary" label="Show columns" />
          </div>
        </form>
      </div>
    </>
  );
};
