/** Secrets in submitted documents: a returned mask keeps the stored value, and callers cannot forge references. */

import type { BoxedSecret, Holding, Sealer } from '../../inventory/secrets/sealing';
import { isSecretRef, masked, maskSecrets, secretRefs } from '../../model/access/secrets';
import { sha256Of } from '../../model/digests';
import { isDocument, type Json } from '../../model/document';
import { raise } from '../../model/errors';
import { partners } from '../../model/partners';

/** A value and its masked form. Both have the same shape except for masked parts. */
type Seen = { readonly value: Json; readonly shown: Json };

const itemsOf = ({ value, shown }: Seen): Seen[] =>
  Array.isArray(value)
    ? value.map((item, at) => ({ value: item, shown: Array.isArray(shown) ? shown[at] : undefined }))
    : [];

const fieldOf = ({ value, shown }: Seen, key: string): Seen =>
  isDocument(value) && Object.hasOwn(value, key)
    ? { value: value[key], shown: isDocument(shown) ? shown[key] : undefined }
    : { value: undefined, shown: undefined };

/** Digests that identify equal values. Each is computed once, so nested lists cost linear time. */
const createDigests = (): ((value: Json) => string) => {
  const known = new WeakMap<object, string>();
  const made = (value: object): string => {
    const parts = Array.isArray(value)
      ? value.map(digestOf)
      : Object.entries(value)
          .map(([key, one]) => `${JSON.stringify(key)}:${digestOf(one)}`)
          .sort();
    return sha256Of(`${Array.isArray(value) ? 'list' : 'object'} ${parts.join()}`);
  };
  const digestOf = (value: Json): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
    const digest = known.get(value) ?? made(value);
    known.set(value, digest);
    return digest;
  };
  return digestOf;
};

type DigestOf = ReturnType<typeof createDigests>;

/** Keys that match a list item, best first: its masked value, its name, its position. */
const keysOf = ({ value, shown }: Seen, place: number | undefined, digestOf: DigestOf): readonly string[] => [
  digestOf(shown),
  isDocument(value) && typeof value.name === 'string' ? `name ${value.name}` : `place ${place}`,
];

/** The stored item that matches each given one. Positions do not count if the list became shorter. */
const counterparts = (given: readonly Seen[], stored: readonly Seen[], digestOf: DigestOf): Seen[] => {
  const places = partners(
    stored.map((item, place) => keysOf(item, place, digestOf)),
    given.map((item, place) => keysOf(item, given.length < stored.length ? undefined : place, digestOf)),
    { sure: true },
  );
  return places.map((place) => (place === undefined ? { value: undefined, shown: undefined } : stored[place]!));
};

const keepMasked = (given: Seen, stored: Seen, digestOf: DigestOf): Json => {
  const { value } = given;
  if (typeof value === 'string')
    return value.includes(masked) && stored.value !== undefined && stored.shown === value ? stored.value : value;
  if (Array.isArray(value)) {
    const items = itemsOf(given);
    const before = counterparts(items, itemsOf(stored), digestOf);
    return items.map((item, at) => keepMasked(item, before[at]!, digestOf));
  }
  if (!isDocument(value) || isSecretRef(value)) return value;
  return Object.fromEntries(
    Object.keys(value).map((key) => [key, keepMasked(fieldOf(given, key), fieldOf(stored, key), digestOf)]),
  );
};

const holdsMask = (value: Json): boolean =>
  value === masked ||
  (Array.isArray(value) ? value.some(holdsMask) : isDocument(value) && Object.values(value).some(holdsMask));

/**
 * Replaces each returned mask by its stored value. Throws InvalidInput if a mask has no stored value.
 * Throws InvalidInput for a reference that this object does not hold: it would open another node's secret.
 */
export const restoreSecrets = (field: string, given: Json, stored: Json): Json => {
  const seen = (value: Json): Seen => ({ value, shown: maskSecrets(value) });
  const kept = keepMasked(seen(given), seen(stored), createDigests());
  if (holdsMask(kept))
    raise('InvalidInput', {
      field,
      reason: `${masked} means a stored secret, and there is none at that place; send the value itself`,
    });
  const own = new Set(secretRefs(stored));
  if (secretRefs(kept).some((id) => !own.has(id)))
    raise('InvalidInput', { field, reason: 'an object with the single key $secret is reserved' });
  return kept;
};

export type Sealed = readonly BoxedSecret[];
/** Holder of the values; the field is the name of each value. */
export type ValuesOf = Omit<Holding, 'field' | 'side'> & {
  /** The binding of each field's secrets; absent means unbound. */
  readonly sides?: Readonly<Record<string, Holding['side']>>;
};

/** Seals the named documents. Returns the values and the secrets to store. */
export const sealAll = <Values extends Readonly<Record<string, unknown>>>(
  vault: Sealer,
  values: Values,
  names: readonly string[],
  { sides, ...of }: ValuesOf,
): { values: Values; secrets: Sealed } => {
  const secrets: BoxedSecret[] = [];
  const clean: Record<string, unknown> = {};
  for (const name of names) {
    const given = values[name];
    if (given === undefined || given === null) continue;
    const sealed = vault.seal(given, { ...of, field: name, side: sides?.[name] });
    clean[name] = sealed.document;
    secrets.push(...sealed.secrets);
  }
  return { values: secrets.length === 0 ? values : { ...values, ...clean }, secrets };
};
