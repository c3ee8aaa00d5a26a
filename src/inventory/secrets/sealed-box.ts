/**
 * Sealing to public keys: X25519 agrees on a key, HKDF-SHA256 derives it, AES-256-GCM encrypts. The sealer cannot open the box. A value is
 * encrypted once under a fresh key, which is wrapped for every recipient.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** `raw` has the 32 bytes of the public half. */
export type PublicKey = { readonly id: string; readonly key: KeyObject; readonly raw: Buffer };
export type PrivateKey = PublicKey & { readonly secret: KeyObject };

/** For one recipient, in base64. */
export type Wrapped = {
  readonly key: string;
  readonly ephemeral: string;
  readonly salt: string;
  readonly wrapped: string;
};
export type Box = { readonly boxes: readonly Wrapped[]; readonly nonce: Buffer; readonly ciphertext: Buffer };

// RFC 8410: the PKCS#8 prefix of the 32 bytes.
const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const keyBytes = 32;
const tagBytes = 16;

const rawOf = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' }).subarray(-keyBytes);

/** As a JWK: OpenSSL's DER reader is ten times slower, and each opened box needs it. */
export const publicKey = (id: string, raw: Buffer): PublicKey => ({
  id,
  raw,
  key: createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: raw.toString('base64url') }, format: 'jwk' }),
});

/** Derives the public half. */
export const privateKey = (id: string, raw: Buffer): PrivateKey => {
  const secret = createPrivateKey({ key: Buffer.concat([pkcs8, raw]), format: 'der', type: 'pkcs8' });
  const key = createPublicKey(secret);
  return { id, secret, key, raw: rawOf(key) };
};

/** @returns the 32 bytes of each half */
export const newPair = (): { readonly publicRaw: Buffer; readonly privateRaw: Buffer } => {
  const pair = generateKeyPairSync('x25519');
  return {
    publicRaw: rawOf(pair.publicKey),
    privateRaw: pair.privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-keyBytes),
  };
};

const encrypt = (key: Buffer, nonce: Buffer, aad: Buffer, plain: Buffer): Buffer => {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(aad);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
};

const decrypt = (key: Buffer, nonce: Buffer, aad: Buffer, sealed: Buffer): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(aad);
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]);
};

// A wrapping key encrypts once, because its salt is fresh. So a fixed nonce is safe.
const wrapNonce = Buffer.alloc(12);

const wrappingKey = (shared: Buffer, salt: Buffer, ephemeral: Buffer, recipient: PublicKey): Buffer =>
  Buffer.from(
    hkdfSync(
      'sha256',
      shared,
      salt,
      Buffer.concat([Buffer.from('temper sealed secret 1'), ephemeral, recipient.raw]),
      keyBytes,
    ),
  );

type Agreed = { readonly ephemeral: Buffer; readonly shared: Buffer };
// Reuses an agreement during mass enrolment; each wrap has a fresh salt.
const agreedForMs = 1_000;

/** Forgets key agreements after a second, so that a memory dump opens little. */
export const createBoxes = (): { seal(recipients: readonly PublicKey[], plain: Buffer, aad: Buffer): Box } => {
  const agreed = new Map<string, Agreed>();
  const agree = (recipient: PublicKey): Agreed => {
    const name = recipient.raw.toString('base64');
    const known = agreed.get(name);
    if (known) return known;
    const pair = generateKeyPairSync('x25519');
    const fresh = {
      ephemeral: rawOf(pair.publicKey),
      shared: diffieHellman({ privateKey: pair.privateKey, publicKey: recipient.key }),
    };
    agreed.set(name, fresh);
    setTimeout(() => agreed.delete(name), agreedForMs).unref();
    return fresh;
  };
  const wrap = (recipient: PublicKey, key: Buffer, aad: Buffer): Wrapped => {
    const { ephemeral, shared } = agree(recipient);
    const salt = randomBytes(keyBytes);
    const wrapped = encrypt(wrappingKey(shared, salt, ephemeral, recipient), wrapNonce, aad, key);
    const text = (bytes: Buffer) => bytes.toString('base64');
    return { key: recipient.id, ephemeral: text(ephemeral), salt: text(salt), wrapped: text(wrapped) };
  };
  return {
    seal(recipients, plain, aad) {
      const key = randomBytes(keyBytes);
      const nonce = randomBytes(12);
      return {
        boxes: recipients.map((recipient) => wrap(recipient, key, aad)),
        nonce,
        ciphertext: encrypt(key, nonce, aad, plain),
      };
    },
  };
};

/** Undefined without a matching key. Throws if the box was altered. */
export const openBox = (keys: ReadonlyMap<string, PrivateKey>, box: Box, aad: Buffer): Buffer | undefined => {
  const mine = box.boxes.find(({ key }) => keys.has(key));
  if (!mine) return undefined;
  const own = keys.get(mine.key)!;
  const [ephemeral, salt, wrapped] = [mine.ephemeral, mine.salt, mine.wrapped].map((text) =>
    Buffer.from(text, 'base64'),
  ) as [Buffer, Buffer, Buffer];
  const shared = diffieHellman({ privateKey: own.secret, publicKey: publicKey(mine.key, ephemeral).key });
  const key = decrypt(wrappingKey(shared, salt, ephemeral, own), wrapNonce, aad, wrapped);
  return decrypt(key, box.nonce, aad, box.ciphertext);
};
