/**
 * Programs that tests of boots need, the system's or from Debian's packages. As a program it takes the name of a row, and prints
 * `{"programs": {...}}` or `{"missing": reason}`.
 */

const { ensurePrograms } = require('../../tools/offline/debian');
const { tell } = require('./told');

/** @type {Record<string, import('../../tools/offline/debian').Wanted>} */
const rows = {
  dnsmasq: { cache: 'dnsmasq', packages: ['dnsmasq-base'], names: ['dnsmasq'], folder: 'usr/sbin', check: '--version' },
  qemu: {
    cache: 'qemu',
    packages: ['qemu-system-x86', 'seabios', 'ipxe-qemu', 'ipxe'],
    names: ['qemu-system-x86_64'],
    check: '--version',
    data: ['usr/share/qemu', 'usr/share/seabios', 'usr/lib/ipxe'],
  },
};

if (require.main === module) tell(ensurePrograms(rows[process.argv[2]]).then((programs) => ({ programs })));
