/** Free-form documents on their way into the store: a mask that comes back keeps what it hides, and references cannot be forged. */

import type { BoxedSecret, Holding, Sealer } from '../../inventory/secrets/sealing';
import { isSecretRef, masked, maskSecrets, secretRefs } from '../../model/access/secrets';
import { canonicalJson } from '../../model/digests';
import { isDocument, type Json } from '../../model/document';
import { raise } from '../../model/errors';
import { partners } from '../../model/partners';

/** What an item of a list is known by: what callers see of it, else its name, else its place. */
const keysOf = (item: Json, place: number | undefined): readonly string[] => [
  canonicalJson(maskSecrets(item)) ?? '',
  isDocument(item) && typeof item.name === 'string' ? `name ${item.name}` : `place ${place}`,
];

/** Each given item with the stored one that it stands for. If a list became shorter, its places are other ones. */
const counterparts = (given: readonly Json[], stored: readonly Json[]): (readonly [Json, Json])[] => {
  const places = partners(
    stored.map(keysOf),
    given.map((item, place) => keysOf(item, given.length < stored.length ? undefined : place)),
    { sure: true },
  );
  return given.map((item, index) => [item, places[index] === undefined ? undefined : stored[places[index]]]);
};

const keepMasked = (given: Json, stored: Json): Json => {
  if (typeof given === 'string')
    return given.includes(masked) && stored !== undefined && maskSecrets(stored) === given ? stored : given;
  if (Array.isArray(given))
    return counterparts(given, Array.isArray(stored) ? stored : []).map(([item, before]) => keepMasked(item, before));
  if (!isDocument(given) || isSecretRef(given)) return given;
  const before = isDocument(stored) ? stored : {};
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      keepMasked(value, Object.hasOwn(before, key) ? before[key] : undefined),
    ]),
  );
};

const holdsMask = (value: Json): boolean =>
  value === masked ||
  (Array.isArray(value) ? value.some(holdsMask) : isDocument(value) && Object.values(value).some(holdsMask));

/**
 * A document as the caller sent it, with the stored value wherever its mask came back. Throws InvalidInput where a mask
 * hides nothing, and where a reference came that this object does not hold: it would open another node's secret.
 */
export const restoreSecrets = (field: string, given: Json, stored: Json): Json => {
  const kept = keepMasked(given, stored);
  if (holdsMask(kept))
    raise('InvalidInput', {
      field,
      reason: `${masked} stands for a stored secret, and there is none at that place; send the value itself`,
    });
  const own = new Set(secretRefs(stored));
  if (secretRefs(kept).some((id) => !own.has(id)))
    raise('InvalidInput', { field, reason: 'an object with the single key $secret is reserved' });
  return kept;
};

export type Sealed = readonly BoxedSecret[];
/** Whose the values are; the field is each one's name. */
export type ValuesOf = Omit<Holding, 'field' | 'side'> & {
  /** What the secrets of a field are bound to; nothing when absent. */
  readonly sides?: Readonly<Record<string, Holding['side']>>;
};

/** Seals the named documents among some values. Returns the values to store and the secrets to store with them. */
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
