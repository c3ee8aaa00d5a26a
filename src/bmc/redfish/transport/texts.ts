/** Paths of resources, read as texts. */
import { withoutLastSlashes } from '../../../model/texts';

/** The last part of a resource's path. */
export const lastOf = (path: string): string => withoutLastSlashes(path).split('/').at(-1) ?? path;
