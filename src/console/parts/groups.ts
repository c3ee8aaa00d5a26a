/** Rows in groups, and lists that belong to groups. */

/** Rows that are alike, in the order of the first of each. */
export const groupedBy = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[][] => {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
};

/** Cuts a list into parts of these sizes, in order. */
export const cutBy = <One>(all: readonly One[], sizes: readonly number[]): (readonly One[])[] =>
  sizes.map((size, at) => {
    const from = sizes.slice(0, at).reduce((sum, one) => sum + one, 0);
    return all.slice(from, from + size);
  });
