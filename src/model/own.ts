/** Look-ups in a table by a text from outside: a caller, an identity service, a BMC. */

/** The table's own row under this key, without inherited names (`constructor`, `toString`, `__proto__`). */
export const ownValue = <Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
