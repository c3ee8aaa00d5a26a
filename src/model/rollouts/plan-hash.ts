/** The name of a plan by its content: what was approved is what is begun. */
import { sha256Of } from '../digests';

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, part]) => [key, sorted(part)]),
  );
};

/** SHA-256 of a plan in hexadecimal digits; the order of keys changes nothing, that of lists does. */
export const planHash = (plan: Readonly<Record<string, unknown>>): string => sha256Of(JSON.stringify(sorted(plan)));
