/** Address prefixes: inside, every path begins with /redfish; outside, with what the client was told (such as /bmc/3). */

const map = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => map(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, map(inner, change)]));
};

/** A copy in which every path of ours carries the prefix. */
export const withBase = (value: unknown, base: string): unknown =>
  base === '' ? value : map(value, (text) => (text.startsWith('/redfish/') ? `${base}${text}` : text));

/** A copy of a client's document without the prefix. */
export const withoutBase = (value: unknown, base: string): unknown =>
  base === '' ? value : map(value, (text) => (text.startsWith(`${base}/redfish/`) ? text.slice(base.length) : text));
