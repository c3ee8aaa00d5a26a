/** Page sizes of lists outside Ironic's API: maximum and default. */
export const ownPage = { most: 1_000, unasked: 100 } as const;
