/** A secret as a file that no longer has a name: a program reads it by descriptor, and a crash leaves nothing on the disk. */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const writeSecret = async (file: string, secret: string): Promise<void> => {
  const handle = await open(file, 'wx', 0o600);
  try {
    // An empty file would make ipmitool ask at the terminal; a NUL is an empty password to it.
    await handle.writeFile(secret === '' ? '\0' : secret);
  } finally {
    await handle.close();
  }
};

/** Runs `use` with a descriptor of a file that holds the secret; closed when `use` ends. */
export const withSecretFile = async <T>(secret: string, use: (descriptor: number) => Promise<T>): Promise<T> => {
  const dir = await mkdtemp(join(tmpdir(), 'temper-ipmi-'));
  const file = join(dir, 'secret');
  const handle = await writeSecret(file, secret)
    .then(() => open(file, 'r'))
    .finally(async () => {
      // The open descriptor keeps what it needs; an error of `open` leaves nothing either.
      await rm(dir, { recursive: true, force: true });
    });
  try {
    return await use(handle.fd);
  } finally {
    await handle.close();
  }
};
