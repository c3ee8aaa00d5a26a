/** The parts of a boot service that has no image records. */
export const noImages = {
  capabilities: { served: async () => undefined },
  cache: { find: async () => ({ is: 'fetching' as const }) },
};
