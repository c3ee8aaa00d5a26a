/**
 * buildah, which builds container images without an engine, and the root of a Debian to build them on. As a program it prints their
 * paths or `{"missing": reason}`.
 */

const fs = require('node:fs');
const path = require('node:path');
const { ensurePrograms } = require('../../tools/offline/debian');
const { ensureMmdebstrap } = require('./debian-root');
const { withLock } = require('./lock');
const { cacheDir } = require('./paths');
const { run } = require('./run');
const { timed } = require('./say');
const { tell } = require('./told');

const suite = 'bookworm';

/** Makes sure that an archive of a small Debian is in the user's cache. @returns {Promise<string>} its path */
async function ensureBase() {
  const file = cacheDir('image-base', `${suite}-${process.arch}.tar`);
  await withLock(`${file}.lock`, 'making a base for images', async () => {
    if (!fs.existsSync(file)) await timed('making a base for images', () => makeBase(file));
  });
  return file;
}

async function makeBase(file) {
  const partial = `${file}.partial`;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const args = ['--quiet', '--variant=minbase', '--include=ca-certificates', '--format=tar', suite, partial];
  const answer = await run(await ensureMmdebstrap(), args, { timeoutMs: 600_000 });
  if (!answer.ok) throw new Error(`mmdebstrap: ${answer.reason}`);
  fs.renameSync(partial, file);
}

/**
 * Makes sure that both are there.
 * @returns {Promise<{buildah: string, base: string}>} paths
 * @throws Error that says why they cannot be had
 */
async function ensureBuildah() {
  if (process.getuid?.() !== 0) throw new Error('needs root: layers of an image are mounted');
  const { buildah } = await ensurePrograms({
    cache: 'buildah',
    packages: ['buildah'],
    names: ['buildah'],
    check: '--version',
    // It starts itself anew without the environment, so its libraries have to be where the system's are.
    data: ['usr/share/containers'],
  });
  return { buildah, base: await ensureBase() };
}

if (require.main === module) tell(ensureBuildah());
