/** Limits of recorded data, because no process may delete audit rows and events. */
import { canonicalJson, sha256Of } from '../digests';
import { jsonBytes } from '../lifecycle/plan-size';

type Data = Readonly<Record<string, unknown>>;

/** Bytes of JSON. A longer value is recorded as its size and SHA-256. Texts of nodes have up to 255 characters, `description` 4096. */
export const longestRecorded = 4 * 1024;
/** Bytes of one row's JSON, as for the plan of the largest run. */
export const longestRecord = 64 * 1024;

/** Of JSON with sorted keys and without spaces. */
export const digestOf = (value: unknown) => {
  const text = canonicalJson(value);
  return { $bytes: Buffer.byteLength(text), $sha256: sha256Of(text) };
};

/** @param depth levels in which long values are replaced one by one */
const shortened = (value: unknown, depth: number): unknown => {
  if (jsonBytes(value) <= longestRecorded) return value;
  if (depth === 0 || typeof value !== 'object' || value === null) return digestOf(value);
  if (Array.isArray(value)) return value.map((item) => shortened(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner, depth - 1)]));
};

/** Replaces long values with digests. Secrets must already be masked. */
export const recorded = (data: Data): Data => {
  for (const depth of [2, 1, 0]) {
    const kept = shortened(data, depth) as Data;
    if (jsonBytes(kept) <= longestRecord) return kept;
  }
  return digestOf(data);
};
