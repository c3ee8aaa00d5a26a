/** Which values are secret, how they are masked, and how a document keeps a reference where a secret was. */
import { isDocument, type Json } from '../document';
import { messageOf, raise } from '../errors';

// The union of openstack/oslo.utils:oslo_utils/strutils.py and the two SNMP keys the original adds.
const secretWords = (
  'adminpass admin_pass password admin_password auth_token new_pass auth_password secret_uuid secret sys_pswd token ' +
  'configdrive chappassword encrypted_key private_key fernetkey sslkey passphrase cephclusterfsid octaviaheartbeatkey ' +
  'rabbitcookie cephmanilaclientkey pacemakerremoteauthkey designaterndckey cephadminkey heatauthencryptionkey cephclientkey ' +
  'keystonecredential barbicansimplecryptokek cephrgwkey swifthashsuffix migrationsshkey cephmdskey cephmonkey chapsecret ' +
  'snmp_auth_key snmp_priv_key'
).split(' ');

// One pass over a key: a document has thousands of them, and each is looked through when it is sealed, shown and recorded.
const secretWord = new RegExp(secretWords.join('|'));

export const masked = '******';

/** Whether a key of a free-form document looks like it holds a secret. */
const isSecretKey = (key: string): boolean => secretWord.test(key.toLowerCase());

/** What stands in a stored document in place of a secret; the value lies encrypted in the secrets table. */
export type SecretRef = { readonly $secret: string };
export const isSecretRef = (value: unknown): value is SecretRef =>
  typeof value === 'object' &&
  value !== null &&
  // First, for to count the keys of a large document costs as much as to walk it.
  typeof (value as Partial<SecretRef>).$secret === 'string' &&
  Object.keys(value).length === 1;

const isObject = (value: Json): value is Record<string, Json> => isDocument(value) && !(value instanceof Date);

// A step of BIOS settings is {name, value}: there the secret-looking word is a value of `name`, not a key.
const isNamedSecret = (value: Record<string, Json>): boolean =>
  typeof value.name === 'string' && 'value' in value && isSecretKey(value.name);

// The scheme's length is bounded: unbounded, every start of a long word would be tried to its end.
const inUrl: readonly { readonly pattern: RegExp; readonly mask: string }[] = [
  // An account with its password. To the last @ before the path: a password may hold one.
  { pattern: /(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*:)[^\s/]+@/gi, mask: `$1${masked}@` },
  // A token in the account's place.
  { pattern: /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#:]+@/gi, mask: `$1${masked}@` },
  // Signed links: S3 (also version 2), Google, Azure (sig), Swift (temp_url_sig); their credential names the account.
  {
    pattern:
      /([?&#;](?:x-(?:amz|goog)-(?:signature|credential|security-token)|(?:temp_url_)?sig|signature|awsaccesskeyid|(?:access_|auth_)?token)=)[^\s&#]+/gi,
    mask: `$1${masked}`,
  },
];

// Each pattern that masks a part of a text asks for one of these: most texts have neither, and are not looked through.
const maskable = /[=:]/;

// A URL with one of them in it is a secret as a whole: an image's address may carry the account of the image server.
const carriesSecret = (text: string): boolean =>
  maskable.test(text) && inUrl.some(({ pattern }) => text.search(pattern) >= 0);

/** What stands in a runbook's arguments in place of a parameter's value, in the place of a secret as well. */
const isParameterRef = (value: Json): boolean =>
  isObject(value) &&
  typeof value.$param === 'string' &&
  /^[a-z][a-z0-9_]{0,62}$/.test(value.$param) &&
  Object.keys(value).length === 1;

/**
 * Walks a document and replaces every secret value by what `replace` gives for it and its path.
 * @param open whether a parameter in the place of a secret counts as one; it holds none by itself
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

// `password=...` inside a longer text, as command lines and URLs carry it.
const inText = /((?:password|passwd|secret|token|passphrase)\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&]+)/gi;

/** A text with anything that looks like `password=…`, or like an account or a signature in a URL, masked. */
export const maskText = (text: string): string =>
  maskable.test(text)
    ? inUrl.reduce((rest, { pattern, mask }) => rest.replace(pattern, mask), text.replace(inText, `$1${masked}`))
    : text;

/** What a thrown value says, masked and of so many characters at most. */
export const shownMessage = (thrown: unknown, longest: number): string => maskText(messageOf(thrown)).slice(0, longest);

/** A document for the wire: secrets and references to secrets shown as `******`, secret-looking parts of texts masked. */
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

// Every word without which `maskSecrets` changes nothing: keys, texts like `password=…`, accounts and signatures in URLs.
const secretSign = new RegExp(
  [...secretWords, 'passwd', '://', 'sig=', 'signature', 'credential', 'awsaccesskeyid'].join('|'),
);

// As PostgreSQL prints a document. Within a text the quotes would be escaped, so that only a reference reads like this.
const printedRef = /\{"\$secret": "[^"\\]*"\}/g;
// Of a key with an escape its end alone: a search that went over escapes would begin anew at each quote of a long text.
const printedRefWithKey = /"[^"\\]*": \{"\$secret": "[^"\\]*"\}/g;

/**
 * The text of a document, as PostgreSQL prints it, masked as `maskSecrets` masks the document. It is parsed only where what is
 * left of it, references apart, has something in it that secrets have.
 */
export const maskDocument = (text: string): string => {
  if (text === '{}' || text === '[]') return text;
  const referring = text.includes('"$secret": ');
  const rest = referring ? text.replace(printedRefWithKey, '') : text;
  if (secretSign.test(rest.toLowerCase())) return JSON.stringify(maskSecrets(JSON.parse(text)));
  return referring ? text.replace(printedRef, `"${masked}"`) : text;
};

/** Whether a document holds a secret that would be sealed. */
export const holdsSecrets = (document: Json): boolean => {
  let found = false;
  replaceSecrets(document, (value) => {
    found = true;
    return value;
  });
  return found;
};

/** All references in a document, each with its path as `replaceSecrets` passes it. */
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
 * How many characters a secret has at least that is hidden where it is quoted; the default passwords of some vendors have six.
 * Shorter ones would blot out half of every text, and what was masked would reveal them.
 */
const shortestHidden = 3;

/**
 * The texts of a secret's value, longest first: what must not be seen again anywhere else.
 * @param shown what every caller may read of the node (its name, its UUIDs). A document, such as a config drive, may repeat it
 * without making it a secret; a password that reads so stays one.
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

/** A document in which none of these texts is left; a BMC quotes what it was sent when it refuses it. */
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

/** A text without these secrets: for a BMC or a ramdisk that quotes what it was sent. */
export const hideSecrets = (text: string, secrets: readonly (string | undefined)[]): string =>
  hideTexts(text, secretTexts(secrets));

/** The document with every reference replaced by its value. Throws SecretMissing on an unknown reference. */
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
