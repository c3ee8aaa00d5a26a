/** Texts of compared values, in the spelling of Python. */

const pad = (exponent: string): string => exponent.replace(/e([+-])(\d)$/, 'e$10$2');

/** Python writes an exponent below 0.0001, JavaScript below 0.000001. https://docs.python.org/3/library/string.html#format-string-syntax */
const fractionText = (value: number): string =>
  pad(value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value));

/** The text always has a point or an exponent. */
export const floatText = (value: number): string => {
  if (!Number.isInteger(value)) return fractionText(value);
  return Math.abs(value) >= 1e16 ? pad(value.toExponential()) : `${value}.0`;
};

const numberText = (value: number): string =>
  Number.isInteger(value) ? BigInt(value).toString() : fractionText(value);

const quoted = (value: string): string => {
  const body = value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\r/g, '\\r');
  return body.includes("'") && !body.includes('"') ? `"${body}"` : `'${body.replace(/'/g, "\\'")}'`;
};

/** Equals `textOf`, except that strings are in quotes. */
const insideText = (value: unknown): string => (typeof value === 'string' ? quoted(value) : textOf(value));

/** Null is `None`, true is `True`, a whole number has no point, and the rest prints as in Python. */
export const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return `[${value.map(insideText).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, item]) => `${quoted(key)}: ${insideText(item)}`)
      .join(', ')}}`;
  return String(value);
};
