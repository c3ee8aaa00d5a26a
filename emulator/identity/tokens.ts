/** The demo's tokens: signed, self-contained, so that they outlive the process that gave them; revocations live in a file. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { appendFileSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export type Scope = 'system' | 'project' | 'unscoped';

const Claims = z.object({
  /** The audit id: what a revocation names. */
  audit: z.string(),
  user: z.string(),
  scope: z.enum(['system', 'project', 'unscoped']),
  methods: z.array(z.string()),
  /** The application credential that was used. */
  credential: z.string().optional(),
  /** Ms since the epoch. */
  issued: z.number(),
  expires: z.number(),
});
export type Claims = z.infer<typeof Claims>;

export type Tokens = {
  issue(claims: Omit<Claims, 'audit' | 'issued'>): { readonly token: string; readonly claims: Claims };
  /** The claims of a token that we signed and that was not revoked, expired or not; undefined for anything else. */
  read(token: string): Claims | undefined;
  revoke(claims: Claims): void;
};

/** The token mint. Without a folder, key and revocations end with the process. */
export const createTokens = (stateDir: string | undefined, now: () => number): Tokens => {
  if (stateDir) mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const key = stateDir ? keptKey(join(stateDir, 'identity.key')) : randomBytes(32);
  const file = stateDir && join(stateDir, 'identity-revoked.txt');
  const revoked = new Set(file ? readLines(file) : []);
  const sign = (text: string): Buffer => createHmac('sha256', key).update(text).digest();

  return {
    issue(given) {
      const claims: Claims = { ...given, audit: randomBytes(16).toString('base64url'), issued: now() };
      const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return { token: `${text}.${sign(text).toString('base64url')}`, claims };
    },
    read(token) {
      const [text = '', signature = ''] = token.split('.');
      const [given, right] = [Buffer.from(signature, 'base64url'), sign(text)];
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
      const claims = Claims.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
      return claims.success && !revoked.has(claims.data.audit) ? claims.data : undefined;
    },
    revoke({ audit }) {
      if (revoked.has(audit)) return;
      if (file) appendFileSync(file, `${audit}\n`, { mode: 0o600 });
      revoked.add(audit);
    },
  };
};

/** The signing key, made at the first start. Linked into place whole: a kill between two lines leaves no half key. */
const keptKey = (path: string): Buffer => {
  const fresh = `${path}.${process.pid}.new`;
  try {
    writeFileSync(fresh, randomBytes(32).toString('hex'), { mode: 0o600 });
    linkSync(fresh, path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  } finally {
    unlinkSync(fresh);
  }
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'hex');
  if (key.length !== 32) throw new Error(`${path} is not a signing key; delete it, and everybody logs in again`);
  return key;
};

const readLines = (path: string): string[] => {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw thrown;
  }
};
