/** Page sizes of lists outside Ironic's API: the maximum, and the default. */
export const ownPage = { most: 1_000, unasked: 100 } as const;
