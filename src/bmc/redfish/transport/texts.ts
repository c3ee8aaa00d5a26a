/** Paths of resources, read as texts. */

/** The last part of a resource's path. */
export const lastOf = (path: string): string => path.replace(/\/+$/, '').split('/').at(-1) ?? path;
