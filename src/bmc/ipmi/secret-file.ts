/** Secret as an unlinked file, which leaves nothing on the disk after a crash. */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const writeSecret = async (file: string, secret: string): Promise<void> => {
  const handle = await open(file, 'wx', 0o600);
  try {
    // An empty file makes ipmitool prompt; it reads a NUL as an empty password.
    await handle.writeFile(secret === '' ? '\0' : secret);
  } finally {
    await handle.close();
  }
};

/** Closes the descriptor when `use` ends. */
export const withSecretFile = async <T>(secret: string, use: (descriptor: number) => Promise<T>): Promise<T> => {
  const dir = await mkdtemp(join(tmpdir(), 'temper-ipmi-'));
  const file = join(dir, 'secret');
  const handle = await writeSecret(file, secret)
    .then(() => open(file, 'r'))
    .finally(async () => {
      // The open descriptor stays readable. The removal also runs if `open` fails.
      await rm(dir, { recursive: true, force: true });
    });
  try {
    return await use(handle.fd);
  } finally {
    await handle.close();
  }
};
