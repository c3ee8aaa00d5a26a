/** Sealing of webhook secrets with a key that also opens (AES-256-GCM). */
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';

export type SealedSecret = {
  readonly id: string;
  readonly key_id: string;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
};

export type Vault = {
  seal(secret: string): SealedSecret;
  /** Throws if the key is not configured or the row was altered. */
  open(row: { id: string; key_id: string; nonce: Buffer; ciphertext: Buffer }): unknown;
};

/** @param keys key id to 32 bytes. The first seals, all open: to rotate, put a new one in front */
export const createVault = (keys: ReadonlyMap<string, Buffer>): Vault => {
  const [current] = keys;
  if (!current) throw new Error('there is no key to seal with: at least one is needed, as <id>:<base64 of 32 bytes>');

  return {
    seal(secret) {
      const [key_id, key] = current;
      const id = randomUUID();
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(Buffer.from(id)); // a row copied over another does not open
      const ciphertext = Buffer.concat([
        cipher.update(JSON.stringify(secret), 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return { id, key_id, nonce, ciphertext };
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
