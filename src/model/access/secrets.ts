/** Secret values of documents: finding, masking, and replacing them with references. */
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

// One regular expression, because a document has thousands of keys, and each is tested when it is sealed, shown and recorded.
const secretWord = new RegExp(secretWords.join('|'));

export const masked = '******';

/** True if a key of a free-form document looks like the name of a secret. */
const isSecretKey = (key: string): boolean => secretWord.test(key.toLowerCase());

/** A reference in place of a secret in a stored document. The value is encrypted in the secrets table. */
export type SecretRef = { readonly $secret: string };
export const isSecretRef = (value: unknown): value is SecretRef =>
  typeof value === 'object' &&
  value !== null &&
  // This test comes first, because counting the keys of a large document costs as much as walking it.
  typeof (value as Partial<SecretRef>).$secret === 'string' &&
  Object.keys(value).length === 1;

const isObject = (value: Json): value is Record<string, Json> => isDocument(value) && !(value instanceof Date);

// A step of BIOS settings has {name, value}: the secret-looking word is a value of `name`, not a key.
const isNamedSecret = (value: Record<string, Json>): boolean =>
  typeof value.name === 'string' && 'value' in value && isSecretKey(value.name);

// The scheme's length is bounded; otherwise each start in a long word would be tried to its end.
const inUrl: readonly { readonly pattern: RegExp; readonly mask: string }[] = [
  // An account with its password, up to the last @ before the path, since a password may contain one.
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

// Each pattern for a part of a text needs one of these characters. Most texts have neither and skip the patterns.
const maskable = /[=:]/;

// A URL with one of these is secret as a whole: an image's URL may carry the account of the image server.
const carriesSecret = (text: string): boolean =>
  maskable.test(text) && inUrl.some(({ pattern }) => text.search(pattern) >= 0);

/** A reference to a runbook parameter, which may also be in place of a secret. */
const isParameterRef = (value: Json): boolean =>
  isObject(value) &&
  typeof value.$param === 'string' &&
  /^[a-z][a-z0-9_]{0,62}$/.test(value.$param) &&
  Object.keys(value).length === 1;

/**
 * Walks a document and replaces each secret by the result of `replace` for it and its path.
 * @param open true if a parameter in place of a secret counts as one; it holds no secret itself
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

// `password=...` inside a longer text, as in command lines and URLs.
const inText = /((?:password|passwd|secret|token|passphrase)\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&]+)/gi;

/** A text with each `password=…`, account and signature in a URL masked. */
export const maskText = (text: string): string =>
  maskable.test(text)
    ? inUrl.reduce((rest, { pattern, mask }) => rest.replace(pattern, mask), text.replace(inText, `$1${masked}`))
    : text;

/** The masked message of a thrown value, cut to `longest` characters. */
export const shownMessage = (thrown: unknown, longest: number): string => maskText(messageOf(thrown)).slice(0, longest);

/** A document for an answer: secrets and references become `******`, and secret-looking parts of texts are masked. */
export const maskSecrets = (document: Json): Json => {
  if (typeof document === 'string') return maskText(document);
  if (Array.isArray(document)) return document.map(maskSecrets);
  if (!isObject(document)) return document;
  if (isSecretRef(document)) return masked;
  const named = isNamedSecret(document);
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => [
      key,
      (isSecretKey(key) || (named && key === 'value')) && value !== null && value !== '' && !isParameterRef(value)
        ? masked
        : maskSecrets(value),
    ]),
  );
};

// All words that `maskSecrets` reacts to: keys, texts like `password=…`, accounts and signatures in URLs.
const secretSign = new RegExp(
  [...secretWords, 'passwd', '://', 'sig=', 'signature', 'credential', 'awsaccesskeyid'].join('|'),
);

// A reference as PostgreSQL prints it. Within a text the quotes would be escaped, so that only a reference matches.
const printedRef = /\{"\$secret": "[^"\\]*"\}/g;
// Matches only the end of a key with an escape. A pattern that includes escapes would restart at each quote of a long text.
const printedRefWithKey = /"[^"\\]*": \{"\$secret": "[^"\\]*"\}/g;

/**
 * Masks a document's text, as PostgreSQL prints it, with the result of `maskSecrets`. It parses the text only if the rest, without
 * references, has a sign of a secret.
 */
export const maskDocument = (text: string): string => {
  if (text === '{}' || text === '[]') return text;
  const referring = text.includes('"$secret": ');
  const rest = referring ? text.replace(printedRefWithKey, '') : text;
  if (secretSign.test(rest.toLowerCase())) return JSON.stringify(maskSecrets(JSON.parse(text)));
  return referring ? text.replace(printedRef, `"${masked}"`) : text;
};

/** True if a document holds a secret that would be sealed. */
export const holdsSecrets = (document: Json): boolean => {
  let found = false;
  replaceSecrets(document, (value) => {
    found = true;
    return value;
  });
  return found;
};

/** All references in a document, each with its path as in `replaceSecrets`. */
export const secretPlaces = (document: Json, path = ''): { readonly id: string; readonly path: string }[] => {
  if (isSecretRef(document)) return [{ id: document.$secret, path }];
  if (Array.isArray(document)) return document.flatMap((item, index) => secretPlaces(item, `${path}/${index}`));
  return isObject(document)
    ? Object.entries(document).flatMap(([key, value]) => secretPlaces(value, `${path}/${key}`))
    : [];
};

/** Ids of all references in a document. */
export const secretRefs = (document: Json): string[] => secretPlaces(document).map(({ id }) => id);

/**
 * Characters of the shortest secret that is hidden in quoted texts. The default passwords of some vendors have six. Shorter ones would
 * hide half of every text, and the masked places would reveal them.
 */
const shortestHidden = 3;

/**
 * The texts of secret values, longest first, which must not appear anywhere else.
 * @param shown texts of the node that every caller may read (its name, its UUIDs). They are not secret if a document, such as a config
 * drive, contains them. A password with such a text stays secret.
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

/** A document without any of these texts. A BMC may quote the request that it refuses. */
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

/** A text without these secrets, for answers of a BMC or a ramdisk that quote the request. */
export const hideSecrets = (text: string, secrets: readonly (string | undefined)[]): string =>
  hideTexts(text, secretTexts(secrets));

/** The document with each reference replaced by its value. Throws SecretMissing on an unknown reference. */
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
