/** Sealing with a key that also opens (AES-256-GCM): webhook secrets, and secrets from before key pairs. */
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { replaceSecrets, type SecretRef } from '../../model/access/secrets';

export type SealedSecret = {
  readonly id: string;
  readonly path: string;
  readonly key_id: string;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
};

export type Vault = {
  /** The document with references, and the secrets to insert with it. */
  seal<T>(document: T): { document: T; secrets: SealedSecret[] };
  /** Throws if the key is not configured or the row was altered. */
  open(row: { id: string; key_id: string; nonce: Buffer; ciphertext: Buffer }): unknown;
};

/** @param keys key id to 32 bytes. The first seals, all open: to rotate, put a new one in front */
export const createVault = (keys: ReadonlyMap<string, Buffer>): Vault => {
  const [current] = keys;
  if (!current) throw new Error('there is no key to seal with: at least one is needed, as <id>:<base64 of 32 bytes>');

  const sealOne = (value: unknown, path: string): SealedSecret => {
    const [key_id, key] = current;
    const id = randomUUID();
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    cipher.setAAD(Buffer.from(id)); // a row copied over another does not open
    const ciphertext = Buffer.concat([
      cipher.update(JSON.stringify(value), 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return { id, path, key_id, nonce, ciphertext };
  };

  return {
    seal(document) {
      const secrets: SealedSecret[] = [];
      const clean = replaceSecrets(document, (value, path): SecretRef => {
        const sealed = sealOne(value, path);
        secrets.push(sealed);
        return { $secret: sealed.id };
      });
      return { document: clean as typeof document, secrets };
    },
    open({ id, key_id, nonce, ciphertext }) {
      const key = keys.get(key_id);
      if (!key) throw new Error(`secret ${id} was sealed with key ${key_id}, which the settings do not hold`);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce);
      decipher.setAAD(Buffer.from(id));
      decipher.setAuthTag(ciphertext.subarray(-16));
      return JSON.parse(
        Buffer.concat([decipher.update(ciphertext.subarray(0, -16)), decipher.final()]).toString('utf8'),
      );
    },
  };
};
