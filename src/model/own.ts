/** Look-ups in a table by a text that came from outside: a caller, an identity service, a BMC. */

/**
 * The row under this key, of the table's own: names that every object inherits (`constructor`, `toString`, `__proto__`) are
 * not in it.
 */
export const ownValue = <Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
