/** buildah, which builds container images without an engine, and mmdebstrap for a base. As a program it prints their paths or `{"missing": reason}`. */

const { ensurePrograms } = require('../../tools/offline/debian');
const { ensureMmdebstrap } = require('./debian-root');
const { tell } = require('./told');

/**
 * Makes sure that both are there.
 * @returns {Promise<{buildah: string, mmdebstrap: string}>} paths
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
  return { buildah, mmdebstrap: await ensureMmdebstrap() };
}

if (require.main === module) tell(ensureBuildah());
