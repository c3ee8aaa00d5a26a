/** Hash of a plan, so that the started plan is the approved one. */
import { canonicalJson, sha256Of } from '../digests';

/** The order of keys does not matter, the order of lists does. */
export const planHash = (plan: Readonly<Record<string, unknown>>): string => sha256Of(canonicalJson(plan));
