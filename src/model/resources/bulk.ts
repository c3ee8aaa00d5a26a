/** Changes that one request may make on many nodes. */

export const mostBulkNodes = 500;

/** Fields of the request, of which it has exactly one. */
export const bulkChanges = ['maintenance', 'power', 'provision', 'owner', 'lessee'] as const;
export type BulkChange = (typeof bulkChanges)[number];

/** Verbs that need nothing but the node. */
export const bulkVerbs = ['manage', 'provide', 'inspect', 'abort', 'unhold'] as const;
