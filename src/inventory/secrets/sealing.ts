/** Seals secrets on their way into the store, each bound to its holder, its place and its BMC; opens them for a BMC worker. */
import { createHmac, hkdfSync, randomUUID } from 'node:crypto';
import { type BmcSide, bmcSideOf } from '../../model/access/bmc-sides';
import { replaceSecrets, type SecretRef } from '../../model/access/secrets';
import { raise } from '../../model/errors';
import {
  createBoxes,
  openBox,
  type PrivateKey,
  type PublicKey,
  privateKey,
  publicKey,
  type Wrapped,
} from './sealed-box';
import { createVault } from './vault';

export type SecretHolder =
  | 'node'
  | 'runbook'
  | 'run'
  | 'agent'
  | 'volume_target'
  | 'deploy_template'
  | 'inspection_rule';

/** What a secret is bound to. Its path begins with the field of its holder, such as /driver_info/redfish_password. */
export type Binding = {
  readonly id: string;
  readonly holder: SecretHolder;
  readonly holder_id: string;
  readonly path: string;
  /** The BMC that it was given for, as JSON of a BmcSide; null where it is for none. */
  readonly bound: string | null;
};

/** A sealed secret as it is stored. `key_id` names every key that it is sealed to, sorted, with commas between. */
export type BoxedSecret = Binding & {
  readonly key_id: string;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
  readonly boxes: readonly Wrapped[];
};

/** A row of the store; `boxes` is null where it was sealed with a shared key, before there were pairs. */
export type StoredSecret = Omit<BoxedSecret, 'boxes'> & { readonly boxes: readonly Wrapped[] | null };

/** Whose secrets a document holds, and who may open them: workers of these conductor groups, or of all. */
export type Holding = {
  readonly holder: SecretHolder;
  readonly holder_id: string;
  /** The holder's field that is sealed. */
  readonly field: string;
  readonly groups: readonly string[] | 'all';
  readonly side?: BmcSide;
};

/** Public keys as the settings have them; `group` is null for the key of all groups that have none of their own. */
export type SealKeys = readonly { readonly id: string; readonly group: string | null; readonly raw: Buffer }[];

export type Sealer = {
  /** The document with references in place of its secrets, and the sealed secrets to be stored with it. */
  seal<T>(document: T, holding: Holding): { document: T; secrets: BoxedSecret[] };
  /** Seals a value that has its id and its place already. */
  sealAgain(value: unknown, binding: Binding, groups: readonly string[] | 'all'): BoxedSecret;
  /** What `key_id` of secrets for these groups is now. */
  keyIdFor(groups: readonly string[] | 'all'): string;
};

export type Opener = {
  /** The value of a row. Throws SecretKeyMissing where none of our keys opens it, and plainly where the row was altered. */
  open(row: StoredSecret): unknown;
  /** Ids of the keys that it opens with, those of shared keys apart. */
  readonly keyIds: readonly string[];
  readonly oldKeyIds: readonly string[];
};

const associated = ({ id, holder, holder_id, path, bound }: Binding): Buffer =>
  Buffer.from(JSON.stringify(['temper secret 1', id, holder, holder_id, path, bound]));

const keyIdOf = (keys: readonly { readonly id: string }[]): string =>
  keys
    .map(({ id }) => id)
    .sort()
    .join(',');

/** @param keys one for all groups, and one for each group that has its own. Throws where the first is missing */
export const createSealer = (keys: SealKeys): Sealer => {
  const ofGroup = new Map(keys.map(({ id, group, raw }) => [group, publicKey(id, raw)]));
  const general = ofGroup.get(null);
  if (!general) throw new Error('there is no public key for groups without one of their own');
  const all = [...ofGroup.values()];
  const boxes = createBoxes();
  const recipients = (groups: readonly string[] | 'all'): readonly PublicKey[] =>
    groups === 'all' ? all : [...new Set(groups.map((group) => ofGroup.get(group) ?? general))];

  const sealAgain: Sealer['sealAgain'] = (value, binding, groups) => {
    const to = recipients(groups);
    const { id, holder, holder_id, path, bound } = binding;
    const box = boxes.seal(to, Buffer.from(JSON.stringify(value)), associated(binding));
    return { id, holder, holder_id, path, bound, key_id: keyIdOf(to), ...box };
  };
  return {
    sealAgain,
    keyIdFor: (groups) => keyIdOf(recipients(groups)),
    seal(document, { holder, holder_id, field, groups, side }) {
      const secrets: BoxedSecret[] = [];
      const bound = side ? JSON.stringify(side) : null;
      const clean = replaceSecrets(document, (value, path): SecretRef => {
        const id = randomUUID();
        secrets.push(sealAgain(value, { id, holder, holder_id, path: `/${field}${path}`, bound }, groups));
        return { $secret: id };
      });
      return { document: clean as typeof document, secrets };
    },
  };
};

/**
 * @param keys private halves by id, of 32 bytes each
 * @param shared keys of before there were pairs, for what is still sealed with them
 */
export const createOpener = (
  keys: ReadonlyMap<string, Buffer>,
  shared: ReadonlyMap<string, Buffer> = new Map(),
): Opener => {
  const own: ReadonlyMap<string, PrivateKey> = new Map([...keys].map(([id, raw]) => [id, privateKey(id, raw)]));
  const before = shared.size > 0 ? createVault(shared) : undefined;
  return {
    keyIds: [...own.keys()],
    oldKeyIds: [...shared.keys()],
    open(row) {
      const { boxes, key_id } = row;
      if (boxes === null)
        return before && shared.has(key_id) ? before.open(row) : raise('SecretKeyMissing', { key: key_id });
      const plain = openBox(own, { ...row, boxes }, associated(row));
      return plain ? JSON.parse(plain.toString('utf8')) : raise('SecretKeyMissing', { key: key_id });
    },
  };
};

/** The public halves of private keys, as keys of all groups: what a worker seals with that is given no others. */
export const ownSealKeys = (keys: ReadonlyMap<string, Buffer>): SealKeys =>
  [...keys].slice(0, 1).map(([id, raw]) => ({ id, group: null, raw: privateKey(id, raw).raw }));

/** Whether a secret that was bound to a BMC belongs to this node's, spelled as it was stored; see `movedField`. */
export const boundOf = (node: { driver: string; driver_info: Readonly<Record<string, unknown>> }): string =>
  JSON.stringify(bmcSideOf(node));

export type Digests = {
  /** Digests by which a text is recognised and not guessed, under each key: the first one is to be kept. */
  digests(text: string): readonly [Buffer, ...Buffer[]];
};

/** @param keys key id to 32 bytes; the first makes digests that are kept, all recognise */
export const createDigests = (keys: ReadonlyMap<string, Buffer>): Digests => {
  // Keys of their own, so that no key serves two ends.
  const derived = [...keys.values()].map((key) => Buffer.from(hkdfSync('sha256', key, '', 'temper digest', 32)));
  if (derived.length === 0) throw new Error('there is no key for digests');
  return {
    digests: (text) => derived.map((key) => createHmac('sha256', key).update(text).digest()) as [Buffer, ...Buffer[]],
  };
};
