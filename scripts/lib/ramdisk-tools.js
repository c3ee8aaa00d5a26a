/**
 * The programs that a ramdisk, its boot image and a network for it are made with: the system's, else from Debian's packages. As a
 * program it takes all of them from the packages, and prints `{"programs": {...}}`, `{"missing": reason}` where they cannot be had
 * on this machine, or `{"broken": reason}` where they can and do not start.
 */

const path = require('node:path');
const { ensurePrograms, overlayRefused, Unfetched, unpackedPrograms } = require('../../tools/offline/debian');
const { mmdebstrap } = require('./debian-root');
const { tell } = require('./told');

const onePackage = (name, ...names) => ({ cache: name, packages: [name], names, check: '--version' });

/** What makes a ramdisk and its boot image. */
const ramdiskTools = [
  mmdebstrap,
  onePackage('cpio', 'cpio'),
  onePackage('zstd', 'zstd'),
  onePackage('xorriso', 'xorriso'),
  onePackage('xz-utils', 'xz'),
  onePackage('mtools', 'mformat', 'mcopy'),
  {
    cache: 'grub',
    packages: ['grub-common', 'grub-efi-amd64-bin', 'grub-pc-bin'],
    names: ['grub-mkrescue'],
    check: '--version',
    data: ['usr/lib/grub/x86_64-efi', 'usr/lib/grub/i386-pc'],
  },
];

/** What makes a bridge. */
const networkTools = [{ cache: 'iproute2', packages: ['iproute2'], names: ['ip'], check: '-V' }];

async function namedWhereUnfetched(wanted) {
  try {
    return await ensurePrograms(wanted);
  } catch (failure) {
    if (!(failure instanceof Unfetched)) throw failure;
    throw new Unfetched(`${wanted.names.join(' and ')} (Debian: ${wanted.packages.join(', ')}; ${failure.message})`);
  }
}

/**
 * Makes sure that they are there.
 * @param {import('../../tools/offline/debian').Wanted[]} tools
 * @param {string} searched folders of programs, as PATH has them
 * @returns {Promise<string>} the same with those folders in front that they are in
 * @throws Unfetched naming what is not there and cannot be had, Error where they do not start
 */
async function pathWith(tools, searched) {
  const known = searched.split(path.delimiter);
  const folders = new Set();
  for (const wanted of tools)
    for (const file of Object.values(await namedWhereUnfetched(wanted))) folders.add(path.dirname(file));
  return [...[...folders].filter((folder) => !known.includes(folder)), ...known].join(path.delimiter);
}

/** @returns {Promise<{programs: Record<string, string>} | {missing: string} | {broken: string}>} */
async function allUnpacked() {
  const refused = await overlayRefused();
  if (refused) return { missing: `needs overlay mounts: ${refused}` };
  try {
    const programs = {};
    for (const wanted of [...ramdiskTools, ...networkTools]) Object.assign(programs, await unpackedPrograms(wanted));
    return { programs };
  } catch (failure) {
    return failure instanceof Unfetched ? { missing: failure.message } : { broken: failure.message };
  }
}

if (require.main === module) tell(allUnpacked());

module.exports = { networkTools, pathWith, ramdiskTools };
