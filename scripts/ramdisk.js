/** `npm run ramdisk`: the ramdisk with the real ironic-python-agent, as kernel, initramfs and boot image. */

require('./lib/node-version');
const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { ensureRamdisk, kernels } = require('./lib/ramdisk');
const { pathWith, ramdiskTools } = require('./lib/ramdisk-tools');
const { dist, workDir } = require('./lib/paths');
const { main, say, Stop, timed } = require('./lib/say');
const { setUp } = require('./lib/setup');
const { Unfetched } = require('../tools/offline/debian');

const usage = `npm run ramdisk -- [--kernel ${kernels.join('|')}] [--out DIR] [--again] [--update]
  --kernel   amd64 has the drivers of every machine (the default), cloud-amd64 those of virtual ones
  --out DIR  where kernel, initramfs, boot image and the list of packages go (default .temper/ramdisk)
  --again    makes it even where it was made before
  --update   takes the mirror's versions over into ramdisk/debian.lock`;

/** @returns {{kernel: string, out: string, again: boolean, update: boolean} | undefined} undefined when only help was asked for */
function options(args) {
  /** @type {import('node:util').ParseArgsConfig['options']} */
  const known = {
    kernel: { type: 'string', default: kernels[0] },
    out: { type: 'string', default: path.join(workDir, 'ramdisk') },
    again: { type: 'boolean', default: false },
    update: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  };
  let values;
  try {
    ({ values } = parseArgs({ args, options: known }));
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
  if (values.help) return undefined;
  if (!kernels.includes(String(values.kernel))) throw new Stop(`--kernel takes ${kernels.join(' or ')}.`);
  return /** @type {any} */ ({ ...values, out: path.resolve(String(values.out)) });
}

/** Copies the files, and makes the boot image beside them as `temper ramdisk add` would. @returns its digest */
async function deliver({ kernel, initrd, folder }, out) {
  fs.mkdirSync(out, { recursive: true });
  for (const file of [kernel, initrd, path.join(folder, 'packages')])
    fs.copyFileSync(file, path.join(out, path.basename(file)));
  const { BuildFault, storeImage } = require(path.join(dist, 'boot', 'index.js'));
  try {
    return await storeImage(out, { kernel, initrd, arch: 'x86_64' }, process.env.PATH ?? '');
  } catch (failure) {
    throw failure instanceof BuildFault ? new Stop(failure.message) : failure;
  }
}

main(async () => {
  const chosen = options(process.argv.slice(2));
  if (!chosen) return void process.stdout.write(`${usage}\n`);
  await setUp();
  process.env.PATH = await pathWith(ramdiskTools, process.env.PATH ?? '').catch((failure) => {
    throw failure instanceof Unfetched ? new Stop(`A ramdisk needs ${failure.message}.`) : failure;
  });
  const made = await ensureRamdisk(chosen);
  const stored = await timed('making the boot image', () => deliver(made, chosen.out));
  const lines = [
    ['ramdisk.kernel', stored.kernel_sha256],
    ['ramdisk.initramfs', stored.initrd_sha256],
    [`${stored.iso_sha256}.iso`, stored.iso_sha256],
  ].map(([file, digest]) => `${digest}  ${path.join(chosen.out, file)}`);
  process.stdout.write(`${lines.join('\n')}\n`);
  say(
    `record it: temper ramdisk add NAME --kernel ${chosen.out}/ramdisk.kernel --initrd ${chosen.out}/ramdisk.initramfs`,
  );
});
