/** The name of a plan by its content: what was approved is what is begun. */
import { canonicalJson, sha256Of } from '../digests';

/** SHA-256 of a plan in hexadecimal digits; the order of keys changes nothing, that of lists does. */
export const planHash = (plan: Readonly<Record<string, unknown>>): string => sha256Of(canonicalJson(plan));
