/** Rows of a page as the API reads them: by their lines, of which these columns are parsed. */
import type { Line, LinesPage } from '../../src/inventory/lines';
import type { Page } from '../../src/inventory/pages';

type Listing<Selection> = {
  lines(line: Line, base: string, selection: Selection, page: Page): Promise<LinesPage>;
};

/** Throws MarkerNotFound. */
export const listed = async <Selection, Column extends string>(
  store: Listing<Selection>,
  columns: readonly Column[],
  selection: Selection,
  page: Page,
): Promise<Record<Column, string>[]> => {
  const { pieces } = await store.lines({ parts: [{ columns }] }, '', selection, page);
  const rows = JSON.parse(`[${Buffer.concat(pieces)}]`) as string[][];
  return rows.map((values) => Object.fromEntries(columns.map((name, at) => [name, values[at]])) as never);
};
