/** The ramdisk with the real ironic-python-agent, made from Debian's and PyPI's packages and kept in the user's cache by what it is made from. */

const fs = require('node:fs');
const path = require('node:path');
const { cacheDir, root } = require('./paths');
const { fingerprint } = require('./fingerprint');
const { installWheels } = require('./wheels');
const { makeRoot, packagesIn } = require('./debian-root');
const { timed } = require('./say');
const { withLock } = require('./lock');

const recipe = path.join(root, 'ramdisk');
const agentLock = path.join(recipe, 'agent.lock');

/** The kernels that a ramdisk can have: of every driver, or of those that virtual machines need. */
const kernels = ['amd64', 'cloud-amd64'];

/** Time stamp of every file in a ramdisk: the recipe's own, for a build's is another each time. */
const epoch = Date.UTC(2026, 10, 1) / 1000;

/**
 * Makes sure that a ramdisk is there.
 * @param {{kernel?: string, update?: boolean, again?: boolean}} [options]
 *   `update` takes the mirror's versions over into the lock; `again` makes it even where it is there
 * @returns {Promise<{folder: string, kernel: string, initrd: string}>} paths
 * @throws Error or Stop that says why it cannot be had
 */
async function ensureRamdisk({ kernel = 'amd64', update = false, again = false } = {}) {
  const folderNow = () =>
    cacheDir('ramdisk', fingerprint([recipe, require.resolve('./debian-root')], kernel).slice(0, 16));
  const isWhole = (folder) => fs.existsSync(path.join(folder, '.complete'));
  if (!isWhole(folderNow()) || update || again) {
    await withLock(cacheDir('ramdisk.lock'), 'making the ramdisk', async () => {
      if (isWhole(folderNow()) && !update && !again) return;
      const made = await timed('making the ramdisk', () => build(kernel, update));
      fs.rmSync(folderNow(), { recursive: true, force: true });
      fs.renameSync(made, folderNow());
    });
  }
  const folder = folderNow();
  return { folder, kernel: path.join(folder, 'ramdisk.kernel'), initrd: path.join(folder, 'ramdisk.initramfs') };
}

/** @returns the folder that it was made in, beside those that are whole */
async function build(kernel, update) {
  const out = cacheDir('ramdisk', `.making-${process.pid}`);
  const agent = path.join(out, 'agent');
  fs.rmSync(out, { recursive: true, force: true });
  fs.mkdirSync(agent, { recursive: true });
  try {
    await installWheels(agentLock, agent);
    await makeRoot({
      packages: [`linux-image-${kernel}`, ...packagesIn(path.join(recipe, 'packages'))],
      lock: path.join(recipe, 'debian.lock'),
      work: out,
      update,
      finish: path.join(recipe, 'finish.sh'),
      env: { AGENT: agent, OUT: out },
      epoch,
    });
    fs.rmSync(agent, { recursive: true });
    fs.writeFileSync(path.join(out, '.complete'), '');
    return out;
  } catch (failure) {
    fs.rmSync(out, { recursive: true, force: true });
    throw failure;
  }
}

module.exports = { ensureRamdisk, kernels };
