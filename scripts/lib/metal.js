/** What the metal tests need beside Temper: a root with QEMU, libvirt and a BMC's emulator, and the disk of a small system to deploy. */

const fs = require('node:fs');
const path = require('node:path');
const { cacheDir, root } = require('./paths');
const { fingerprint } = require('./fingerprint');
const { installWheels } = require('./wheels');
const { makeRoot, packagesIn } = require('./debian-root');
const { run } = require('./run');
const { timed } = require('./say');
const { withLock } = require('./lock');

const recipe = path.join(root, 'test', 'metal', 'lab');
const epoch = Date.UTC(2026, 10, 1) / 1000;
const inRecipe = (name) => path.join(recipe, name);

/**
 * The folder of something that is made once, by what it is made from.
 * @param {string} name
 * @param {string[]} inputs files of the recipe
 * @param {(making: string) => Promise<unknown>} work makes it in a folder
 * @param {{update?: boolean}} options
 */
async function ensure(name, inputs, work, { update = false }) {
  const folder = () =>
    cacheDir('metal', `${name}-${fingerprint([...inputs, `${name}.lock`].map(inRecipe)).slice(0, 16)}`);
  const isWhole = () => fs.existsSync(path.join(folder(), '.complete'));
  if (!isWhole() || update)
    await withLock(cacheDir('metal', `${name}.lock`), `making ${name}`, async () => {
      if (isWhole() && !update) return;
      const making = cacheDir('metal', `.${name}-${process.pid}`);
      fs.rmSync(making, { recursive: true, force: true });
      fs.mkdirSync(making, { recursive: true });
      await timed(`making ${name} of the metal tests`, () => work(making));
      fs.writeFileSync(path.join(making, '.complete'), '');
      fs.rmSync(folder(), { recursive: true, force: true });
      fs.renameSync(making, folder());
    });
  return folder();
}

/**
 * The root with QEMU, libvirt, dnsmasq and sushy-emulator.
 * @param {{update?: boolean}} options `update` takes the mirror's versions over into the lock
 * @returns {Promise<string>} its path
 */
async function ensureTools(options) {
  const folder = await ensure(
    'tools',
    ['tools.packages', 'sushy.lock'],
    async (making) => {
      const target = path.join(making, 'root');
      await makeRoot({
        packages: packagesIn(inRecipe('tools.packages')),
        lock: inRecipe('tools.lock'),
        work: making,
        target,
        epoch,
        ...options,
      });
      await installWheels(inRecipe('sushy.lock'), path.join(target, 'opt', 'sushy'));
    },
    options,
  );
  return path.join(folder, 'root');
}

/**
 * The disk of the small system, raw.
 * @param {string} tools the root of the tools, in which it is made
 * @param {{update?: boolean}} options
 * @returns {Promise<string>} its path
 */
async function ensureImage(tools, options) {
  const inputs = ['image.packages', 'image-root.sh', 'image-disk.sh'];
  const folder = await ensure(
    'image',
    inputs,
    async (making) => {
      const target = path.join(making, 'root');
      const finish = inRecipe('image-root.sh');
      await makeRoot({
        packages: packagesIn(inRecipe('image.packages')),
        lock: inRecipe('image.lock'),
        work: making,
        target,
        finish,
        epoch,
        ...options,
      });
      fs.copyFileSync(inRecipe('image-disk.sh'), path.join(making, 'disk.sh'));
      const inside = 'mount --bind "$1" "$2/mnt" && exec chroot "$2" /bin/sh /mnt/disk.sh /mnt/root /mnt/system.raw';
      const answer = await run('unshare', ['--mount', 'sh', '-c', inside, 'sh', making, tools], { timeoutMs: 600_000 });
      if (!answer.ok)
        throw new Error(`the disk of the small system cannot be made: ${answer.reason}\n${answer.output}`);
      fs.rmSync(target, { recursive: true });
    },
    options,
  );
  return path.join(folder, 'system.raw');
}

/**
 * What can start firmware here. KVM on a processor without its own support for virtual machines starts kernels, and no firmware.
 * @param {string} tools the root of the tools
 * @returns {Promise<'kvm' | 'tcg'>}
 */
async function acceleratorOf(tools) {
  if (!fs.existsSync('/dev/kvm')) return 'tcg';
  const firmware = '/usr/share/OVMF/OVMF_CODE_4M.fd';
  const qemu = `timeout -s KILL 10 qemu-system-x86_64 -machine q35,accel=kvm -cpu host -m 512 -display none -nodefaults -serial stdio -drive if=pflash,format=raw,readonly=on,file=${firmware}`;
  const inside = 'mount --rbind /dev "$1/dev" && exec chroot "$1" /bin/sh -c "$2"';
  const { output } = await run('unshare', ['--mount', 'sh', '-c', inside, 'sh', tools, qemu], { timeoutMs: 30_000 });
  return /BdsDxe|UEFI|Shell/.test(output) ? 'kvm' : 'tcg';
}

module.exports = { acceleratorOf, ensureImage, ensureTools };
