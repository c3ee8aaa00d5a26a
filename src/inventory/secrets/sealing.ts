/** Sealing of secrets, each bound to its holder, path and BMC. */
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

export type SecretHolder =
  | 'node'
  | 'runbook'
  | 'run'
  | 'agent'
  | 'volume_target'
  | 'deploy_template'
  | 'inspection_rule';

/** `path` begins with the holder's field, such as /driver_info/redfish_password. */
type Binding = {
  readonly id: string;
  readonly holder: SecretHolder;
  readonly holder_id: string;
  readonly path: string;
  /** JSON of a BmcSide; null if none. */
  readonly bound: string | null;
};

/** `key_id` has all key ids, sorted, separated by commas. */
export type BoxedSecret = Binding & {
  readonly key_id: string;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
  readonly boxes: readonly Wrapped[];
};

export type Holding = {
  readonly holder: SecretHolder;
  readonly holder_id: string;
  readonly field: string;
  readonly groups: readonly string[] | 'all';
  readonly side?: BmcSide;
};

/** `group` null: all groups without their own key. */
export type SealKeys = readonly { readonly id: string; readonly group: string | null; readonly raw: Buffer }[];

export type Sealer = {
  /** The document with references, and the secrets to insert with it. */
  seal<T>(document: T, holding: Holding): { document: T; secrets: BoxedSecret[] };
  /** Keeps id and path. */
  sealAgain(value: unknown, binding: Binding, groups: readonly string[] | 'all'): BoxedSecret;
  keyIdFor(groups: readonly string[] | 'all'): string;
};

export type Opener = {
  /** Throws SecretKeyMissing without a matching key, and an Error if the row was altered. */
  open(row: BoxedSecret): unknown;
  readonly keyIds: readonly string[];
};

const associated = ({ id, holder, holder_id, path, bound }: Binding): Buffer =>
  Buffer.from(JSON.stringify(['temper secret 1', id, holder, holder_id, path, bound]));

const keyIdOf = (keys: readonly { readonly id: string }[]): string =>
  keys
    .map(({ id }) => id)
    .sort()
    .join(',');

/** @param keys one for all groups, and others for single groups. Throws without the first */
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

/** @param keys private halves by id, 32 bytes each */
export const createOpener = (keys: ReadonlyMap<string, Buffer>): Opener => {
  const own: ReadonlyMap<string, PrivateKey> = new Map([...keys].map(([id, raw]) => [id, privateKey(id, raw)]));
  return {
    keyIds: [...own.keys()],
    open(row) {
      const plain = openBox(own, row, associated(row));
      return plain ? JSON.parse(plain.toString('utf8')) : raise('SecretKeyMissing', { key: row.key_id });
    },
  };
};

/** Seal keys of a worker that has no others. */
export const ownSealKeys = (keys: ReadonlyMap<string, Buffer>): SealKeys =>
  [...keys].slice(0, 1).map(([id, raw]) => ({ id, group: null, raw: privateKey(id, raw).raw }));

/** See `movedField`. */
export const boundOf = (node: { driver: string; driver_info: Readonly<Record<string, unknown>> }): string =>
  JSON.stringify(bmcSideOf(node));

export type Digests = {
  /** Keyed, so that texts cannot be guessed. Store the first one. */
  digests(text: string): readonly [Buffer, ...Buffer[]];
};

/** @param keys key id to 32 bytes. The first makes stored digests; all recognise */
export const createDigests = (keys: ReadonlyMap<string, Buffer>): Digests => {
  // Derived keys, so that no key serves two purposes.
  const derived = [...keys.values()].map((key) => Buffer.from(hkdfSync('sha256', key, '', 'temper digest', 32)));
  if (derived.length === 0) throw new Error('there is no key for digests');
  return {
    digests: (text) => derived.map((key) => createHmac('sha256', key).update(text).digest()) as [Buffer, ...Buffer[]],
  };
};
