/** Look-ups in tables by texts from outside. */

/** Ignores inherited names (`constructor`, `toString`, `__proto__`). */
export const ownValue = <Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
