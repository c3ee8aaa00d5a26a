/** Secret as an unlinked file. A program reads it by descriptor, and a crash leaves nothing on the disk. */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const writeSecret = async (file: string, secret: string): Promise<void> => {
  const handle = await open(file, 'wx', 0o600);
  try {
    // With an empty file ipmitool would prompt at the terminal; it reads a NUL as an empty password.
    await handle.writeFile(secret === '' ? '\0' : secret);
  } finally {
    await handle.close();
  }
};

/** Runs `use` with a descriptor of a file with the secret; closes it when `use` ends. */
export const withSecretFile = async <T>(secret: string, use: (descriptor: number) => Promise<T>): Promise<T> => {
  const dir = await mkdtemp(join(tmpdir(), 'temper-ipmi-'));
  const file = join(dir, 'secret');
  const handle = await writeSecret(file, secret)
    .then(() => open(file, 'r'))
    .finally(async () => {
      // The open descriptor still reads the removed file. The removal also runs if `open` fails.
      await rm(dir, { recursive: true, force: true });
    });
  try {
    return await use(handle.fd);
  } finally {
    await handle.close();
  }
};
