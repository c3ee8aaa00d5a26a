/** Python's packages for another root than this machine's: wheels for Debian's Python, each with the digest of a lock file. */

const { findPython } = require('./python');
const { run } = require('./run');

const forDebian = [
  '--only-binary=:all:',
  '--python-version=3.11',
  '--implementation=cp',
  ...['manylinux_2_28_x86_64', 'manylinux_2_17_x86_64', 'manylinux2014_x86_64'].map((name) => `--platform=${name}`),
];

const asLocked = ['--no-compile', '--require-hashes', '--no-deps', '--quiet', '--disable-pip-version-check'];

/** Unpacks all that a lock file names into a folder. Throws an Error that says why it cannot. */
async function installWheels(lock, folder) {
  const python = await findPython('3.9');
  const args = ['-m', 'pip', 'install', ...asLocked, ...forDebian, '--target', folder, '-r', lock];
  const answer = await run(python, args, { timeoutMs: 600_000 });
  if (!answer.ok) throw new Error(`Python's packages cannot be had: ${answer.reason}`);
}

module.exports = { installWheels };
