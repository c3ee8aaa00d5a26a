/** Removes a BMC's host, port and path from texts for callers who may not read them. */

// "The BMC of node n at https://b:8443 ..." and "The BMC https://b:8443 is in use ...".
const namedBmc = /\b(BMC of (?:the )?node \S+) at (\S+?)(?=[\s,;]|[.:](?:\s|$)|$)/g;
const alone = /\b(The BMC) (?!of\b|and\b|is\b|did\b|has\b|was\b|that\b|keeps\b|shows\b|which\b|does\b)(\S+[.:]\S+)/g;

const hiddenAddress = '(address hidden)';

const traces: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) \/\S*/g, '(path hidden)'],
  [/(?:[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/]+)?\/redfish\b[^\s,;]*/gi, '(path hidden)'],
  // Node's message for an unresolved name.
  [/\b(ENOTFOUND|EAI_AGAIN) [^\s,;]+/g, `$1 ${hiddenAddress}`],
  // Node's message for a certificate of other names; nodejs/node:lib/tls.js (checkServerIdentity).
  [/(does not match certificate's altnames): [^\n;]*/g, `$1 ${hiddenAddress}`],
  [/\[[0-9a-f:.]{2,45}\](?::\d{1,5})?/gi, hiddenAddress],
  // Firmware versions have leading zeros, addresses have none.
  [/(?<![\w.])(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}(?![\w-])(?::\d{1,5})?/g, hiddenAddress],
  [/(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){0,6}::[0-9a-f:.]{0,40}(?![\w])/gi, hiddenAddress],
  [/\(address hidden\):\d{1,5}/g, hiddenAddress],
];

/** `label` is an origin, or host and port. */
const hostOf = (label: string): string => label.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/[:/][^\]]*$/, '');

export const withoutBmc = <Text extends string | null>(text: Text): Text => {
  if (text === null) return text;
  const labels = [...text.matchAll(namedBmc), ...text.matchAll(alone)].map((found) => found[2]!);
  const words = [...labels, ...labels.map(hostOf)].filter((word) => word.length > 3);
  const plain = text.replace(namedBmc, '$1').replace(alone, '$1');
  const unnamed = words.reduce((left, word) => left.split(word).join(hiddenAddress), plain);
  return traces.reduce((left, [pattern, instead]) => left.replace(pattern, instead), unnamed) as Text;
};
