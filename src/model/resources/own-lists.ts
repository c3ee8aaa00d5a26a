/** Pages of Temper's own lists: how many rows a request may ask for, and how many it gets where it does not say. */
export const ownPage = { most: 1_000, unasked: 100 } as const;
