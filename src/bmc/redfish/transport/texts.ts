/** Texts of resource paths. */
import { withoutLastSlashes } from '../../../model/texts';

/** The last part of a path. */
export const lastOf = (path: string): string => withoutLastSlashes(path).split('/').at(-1) ?? path;
