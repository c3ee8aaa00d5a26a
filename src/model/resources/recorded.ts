/** How much of a change its records keep: no process may delete a row of the audit trail or an event. */
import { canonicalJson, sha256Of } from '../digests';
import { jsonBytes } from '../lifecycle/plan-size';

type Data = Readonly<Record<string, unknown>>;

/** A value of more bytes as JSON is recorded by its size and its SHA-256. Texts of nodes have 255 characters, those of `description` 4096. */
export const longestRecorded = 4 * 1024;
/** Most bytes of the data of one row as JSON: the plan of the largest run has as many. */
export const longestRecord = 64 * 1024;

/** What is recorded in the place of a long value. The digest is of its JSON with sorted keys and without spaces. */
const digestOf = (value: unknown) => {
  const text = canonicalJson(value);
  return { $bytes: Buffer.byteLength(text), $sha256: sha256Of(text) };
};

/** @param depth how far a long document or list is looked into for its long values, before all of it is one of them */
const shortened = (value: unknown, depth: number): unknown => {
  if (jsonBytes(value) <= longestRecorded) return value;
  if (depth === 0 || typeof value !== 'object' || value === null) return digestOf(value);
  if (Array.isArray(value)) return value.map((item) => shortened(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner, depth - 1)]));
};

/** The data of an audit row or an event, its secrets masked before, with digests in place of long values. */
export const recorded = (data: Data): Data => {
  for (const depth of [2, 1, 0]) {
    const kept = shortened(data, depth) as Data;
    if (jsonBytes(kept) <= longestRecord) return kept;
  }
  return digestOf(data);
};
