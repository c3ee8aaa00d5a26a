/** The password file of http_basic, as written by htpasswd -B. */
import { refuseIdentityFile } from './sources';

const bcryptForm = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

export type Passwords = {
  readonly hashes: ReadonlyMap<string, string>;
  /** Matches no password and has the file's highest cost. It is checked for unknown users, so that the time reveals nothing. */
  readonly decoy: string;
};

/** @throws IdentityFileInvalid with the line number, never its content */
export const parseHtpasswd = (text: string, file: string): Passwords => {
  const hashes = new Map<string, string>();
  let cost = 4;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const wrong = (reason: string): never => refuseIdentityFile(file, `line ${index + 1} ${reason}`);
    const colon = line.indexOf(':');
    const [user, hash] = [line.slice(0, colon), line.slice(colon + 1)];
    if (colon < 1) wrong('has no user; write "user:hash".');
    const form = bcryptForm.exec(hash) ?? wrong('is not a bcrypt hash; make it with "htpasswd -nB <user>".');
    const rounds = Number(form[1]);
    if (rounds < 4 || rounds > 31) wrong('has an impossible bcrypt cost; make it again with "htpasswd -nB <user>".');
    if (hashes.has(user)) wrong('names a user that an earlier line names too; keep one of them.');
    hashes.set(user, hash);
    cost = Math.max(cost, rounds);
  }
  if (hashes.size === 0) refuseIdentityFile(file, 'it names no user; add one with "htpasswd -B <file> <user>".');
  return { hashes, decoy: `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}` };
};
