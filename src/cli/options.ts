/** Options that several commands share. */

/** Collects a repeatable option. */
export const collect = (one: string, before: readonly string[] = []): string[] => [...before, one];
