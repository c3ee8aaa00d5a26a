/** Secret values in documents: finding, masking, and replacing them with references. */
import { isDocument, type Json } from '../document';
import { messageOf, raise } from '../errors';

// The union of openstack/oslo.utils:oslo_utils/strutils.py and the two SNMP keys that Ironic adds.
const secretWords = (
  'adminpass admin_pass password admin_password auth_token new_pass auth_password secret_uuid secret sys_pswd token ' +
  'configdrive chappassword encrypted_key private_key fernetkey sslkey passphrase cephclusterfsid octaviaheartbeatkey ' +
  'rabbitcookie cephmanilaclientkey pacemakerremoteauthkey designaterndckey cephadminkey heatauthencryptionkey cephclientkey ' +
  'keystonecredential barbicansimplecryptokek cephrgwkey swifthashsuffix migrationsshkey cephmdskey cephmonkey chapsecret ' +
  'snmp_auth_key snmp_priv_key'
).split(' ');

// One regular expression, because documents have thousands of keys, each tested several times.
const secretWord = new RegExp(secretWords.join('|'));

export const masked = '******' as const;

export const isSecretKey = (key: string): boolean => secretWord.test(key.toLowerCase());

/** A reference in a stored document to an encrypted value in the secrets table. */
export type SecretRef = { readonly $secret: string };
export const isSecretRef = (value: unknown): value is SecretRef =>
  typeof value === 'object' &&
  value !== null &&
  // First, because counting keys costs as much as walking a large document.
  typeof (value as Partial<SecretRef>).$secret === 'string' &&
  Object.keys(value).length === 1;

const isObject = (value: Json): value is Record<string, Json> => isDocument(value) && !(value instanceof Date);

// BIOS settings are {name, value}: the secret-looking word is a value of `name`.
const isNamedSecret = (value: Record<string, Json>): boolean =>
  typeof value.name === 'string' && 'value' in value && isSecretKey(value.name);

// A bounded scheme: otherwise each start in a long word would be tried to its end.
const inUrl: readonly { readonly pattern: RegExp; readonly mask: string }[] = [
  // Up to the last @ before the path, since a password may contain one.
  { pattern: /(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*:)[^\s/]+@/gi, mask: `$1${masked}@` },
  // A token in place of the account.
  { pattern: /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#:]+@/gi, mask: `$1${masked}@` },
  // Signed links: S3 (also version 2), Google, Azure (sig), Swift (temp_url_sig). The credential names the account.
  {
    pattern:
      /([?&#;](?:x-(?:amz|goog)-(?:signature|credential|security-token)|(?:temp_url_)?sig|signature|awsaccesskeyid|(?:access_|auth_)?token)=)[^\s&#]+/gi,
    mask: `$1${masked}`,
  },
];

// Most texts have neither character and skip the patterns.
const maskable = /[=:]/;

// A URL with one of these is secret as a whole: it may carry the account of the image server.
const carriesSecret = (text: string): boolean =>
  maskable.test(text) && inUrl.some(({ pattern }) => text.search(pattern) >= 0);

const isParameterRef = (value: Json): boolean =>
  isObject(value) &&
  typeof value.$param === 'string' &&
  /^[a-z][a-z0-9_]{0,62}$/.test(value.$param) &&
  Object.keys(value).length === 1;

/**
 * Replaces each secret by the result of `replace` for it and its path.
 * @param open true if a parameter in place of a secret counts as one
 */
export const replaceSecrets = (
  document: Json,
  replace: (value: Json, path: string) => Json,
  path = '',
  open = false,
): Json => {
  if (typeof document === 'string') return carriesSecret(document) ? replace(document, path) : document;
  if (Array.isArray(document))
    return document.map((item, index) => replaceSecrets(item, replace, `${path}/${index}`, open));
  if (!isObject(document) || isSecretRef(document)) return document;
  const named = isNamedSecret(document);
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => {
      const here = `${path}/${key}`;
      const secret = isSecretKey(key) || (named && key === 'value');
      const held = value !== null && value !== '' && !isSecretRef(value) && (open || !isParameterRef(value));
      if (secret && held) return [key, replace(value, here)];
      return [key, replaceSecrets(value, replace, here, open)];
    }),
  );
};

// `password=...` inside a longer text.
const inText = /((?:password|passwd|secret|token|passphrase)\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&]+)/gi;

export const maskText = (text: string): string =>
  maskable.test(text)
    ? inUrl.reduce((rest, { pattern, mask }) => rest.replace(pattern, mask), text.replace(inText, `$1${masked}`))
    : text;

export const shownMessage = (thrown: unknown, longest: number): string => maskText(messageOf(thrown)).slice(0, longest);

const maskIn = (document: Json): Json => {
  if (typeof document === 'string') return maskText(document);
  if (Array.isArray(document)) return document.map(maskIn);
  if (!isObject(document)) return document;
  if (isSecretRef(document)) return masked;
  const named = isNamedSecret(document);
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => [
      key,
      (isSecretKey(key) || (named && key === 'value')) && value !== null && value !== '' && !isParameterRef(value)
        ? masked
        : maskIn(value),
    ]),
  );
};

/** For answers: masks secrets, references, and secret-looking parts of texts. */
export const maskSecrets = <Document>(document: Document): Document => maskIn(document) as Document;

// All words that `maskSecrets` reacts to.
const secretSign = new RegExp(
  [...secretWords, 'passwd', '://', 'sig=', 'signature', 'credential', 'awsaccesskeyid'].join('|'),
);

// As PostgreSQL prints it. Quotes within a text are escaped, so only a reference matches.
const printedRef = /\{"\$secret": "[^"\\]*"\}/g;
// Matches only the end of a key with an escape. Otherwise the search would restart at each quote of a long text.
const printedRefWithKey = /"[^"\\]*": \{"\$secret": "[^"\\]*"\}/g;

/** Masks a text printed by PostgreSQL like `maskSecrets`. It parses the text only if more than references looks secret. */
export const maskDocument = (text: string): string => {
  if (text === '{}' || text === '[]') return text;
  const referring = text.includes('"$secret": ');
  const rest = referring ? text.replace(printedRefWithKey, '') : text;
  if (secretSign.test(rest.toLowerCase())) return JSON.stringify(maskSecrets(JSON.parse(text)));
  return referring ? text.replace(printedRef, `"${masked}"`) : text;
};

export const holdsSecrets = (document: Json): boolean => {
  let found = false;
  replaceSecrets(document, (value) => {
    found = true;
    return value;
  });
  return found;
};

/** Paths as in `replaceSecrets`. */
export const secretPlaces = (document: Json, path = ''): { readonly id: string; readonly path: string }[] => {
  if (isSecretRef(document)) return [{ id: document.$secret, path }];
  if (Array.isArray(document)) return document.flatMap((item, index) => secretPlaces(item, `${path}/${index}`));
  return isObject(document)
    ? Object.entries(document).flatMap(([key, value]) => secretPlaces(value, `${path}/${key}`))
    : [];
};

export const secretRefs = (document: Json): string[] => secretPlaces(document).map(({ id }) => id);

/**
 * Characters. Vendors' default passwords have six. Shorter secrets would hide half of every text, and the masked places would reveal
 * them.
 */
const shortestHidden = 3;

/**
 * Longest first. These texts must not appear anywhere else.
 * @param shown public texts of the node (its name, its UUIDs). A document that contains them, such as a config drive, does not make them
 * secret, but a password does.
 */
export const secretTexts = (values: Iterable<Json>, shown: readonly (string | null | undefined)[] = []): string[] => {
  const within = (value: Json): string[] => texts(value).filter((text) => !shown.includes(text));
  const texts = (value: Json): string[] => {
    if (typeof value === 'string') return [value];
    if (typeof value === 'number') return [String(value)];
    if (Array.isArray(value)) return value.flatMap(within);
    return isObject(value) ? Object.values(value).flatMap(within) : [];
  };
  const all = [...values].flatMap(texts).filter((text) => text.length >= shortestHidden);
  return [...new Set(all)].sort((a, b) => b.length - a.length);
};

/** A BMC may quote the request that it refuses. */
export const hideTexts = <T>(document: T, texts: readonly string[]): T => {
  if (texts.length === 0) return document;
  const hide = (value: Json): Json => {
    if (typeof value === 'string') return texts.reduce((text, secret) => text.replaceAll(secret, masked), value);
    if (typeof value === 'number') return texts.includes(String(value)) ? masked : value;
    if (Array.isArray(value)) return value.map(hide);
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hide(inner)]))
      : value;
  };
  return hide(document) as T;
};

/** A BMC or ramdisk may quote the request. */
export const hideSecrets = (text: string, secrets: readonly (string | undefined)[]): string =>
  hideTexts(text, secretTexts(secrets));

/** Throws SecretMissing on an unknown reference. */
export const resolveSecrets = (document: Json, values: ReadonlyMap<string, Json>): Json => {
  if (isSecretRef(document)) {
    if (!values.has(document.$secret)) raise('SecretMissing', { secret: document.$secret });
    return values.get(document.$secret);
  }
  if (Array.isArray(document)) return document.map((item) => resolveSecrets(item, values));
  return isObject(document)
    ? Object.fromEntries(Object.entries(document).map(([key, value]) => [key, resolveSecrets(value, values)]))
    : document;
};
