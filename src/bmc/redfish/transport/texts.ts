/** Texts of resource paths. */
import { withoutLastSlashes } from '../../../model/texts';

export const lastOf = (path: string): string => withoutLastSlashes(path).split('/').at(-1) ?? path;
