/** Roots of Debian, made by mmdebstrap from packages whose versions and digests are in a file beside the recipe. */

const fs = require('node:fs');
const path = require('node:path');
const { ensurePrograms } = require('../../tools/offline/debian');
const { run } = require('./run');
const { Stop } = require('./say');

/** A release that gets no new versions any more: what is in its main archive stays what it is. */
const suite = 'bookworm';
const defaultMirror = 'http://deb.debian.org/debian';

const minute = 60_000;

/** The mirror does not answer, which no recipe can mend. */
class Unreachable extends Error {}

// As apt says it: https://salsa.debian.org/apt-team/apt/-/blob/main/methods/connect.cc
const unanswered =
  /Could not (?:resolve|connect)|Temporary failure resolving|Unable to connect|Cannot initiate the connection/;

/** mmdebstrap, and the filter for paths that it starts. */
const mmdebstrap = {
  cache: 'mmdebstrap',
  packages: ['mmdebstrap'],
  names: ['mmdebstrap', 'mmtarfilter'],
  check: '--version',
};

/** Path of mmdebstrap; from Debian's package where the system has none. */
const ensureMmdebstrap = async () => (await ensurePrograms(mmdebstrap)).mmdebstrap;

/** The names in a file with one package a line; `#` begins a comment. */
const packagesIn = (file) =>
  fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter(Boolean);

/** Lines `name version sha256` of what is installed, from the database of dpkg and the signed lists of apt, in a hook of mmdebstrap. */
const listHook = (list) =>
  [
    `awk '/^Package: /{p=$2} /^Version: /{v=$2} /^SHA256: /{print p" "v" "$2}' "$1"/var/lib/apt/lists/*_Packages >'${list}.known'`,
    `chroot "$1" dpkg-query -W -f='\${Package} \${Version}\\n' | LC_ALL=C sort >'${list}.installed'`,
    `awk 'NR==FNR{d[$1" "$2]=$3;next} {print $0" "d[$0]}' '${list}.known' '${list}.installed' >'${list}'`,
    `rm '${list}.known' '${list}.installed'`,
  ].join(' && ');

/** @returns {Map<string, string>} version and digest by package */
const readLock = (file) =>
  new Map(
    (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '')
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => /** @type {[string, string]} */ ([line.split(' ')[0], line.slice(line.indexOf(' ') + 1)])),
  );

const defaultHeading = '# Versions and SHA-256 of the Debian packages; written by `npm run ramdisk -- --update`.\n';

const headingOf = (lock) =>
  (fs.existsSync(lock) && /^#.*\n/.exec(fs.readFileSync(lock, 'utf8'))?.[0]) || defaultHeading;

/** Takes over what was installed; packages of another choice (a second kernel) keep their lines. */
function writeLock(lock, list) {
  const all = new Map([...readLock(lock), ...readLock(list)]);
  const lines = [...all].map(([name, rest]) => `${name} ${rest}`).sort();
  fs.writeFileSync(lock, `${headingOf(lock)}${lines.join('\n')}\n`);
}

/** @throws Stop naming the packages that are not those of the lock */
function compareWithLock(lock, list) {
  const locked = readLock(lock);
  const installed = [...readLock(list)];
  if (installed.length === 0) throw new Error('nothing says which packages were installed');
  const others = installed.filter(([name, rest]) => locked.get(name) !== rest);
  if (others.length === 0) return;
  const shown = others.slice(0, 5).map(([name, rest]) => `${name} ${rest} (wanted ${locked.get(name) ?? 'none'})`);
  throw new Stop(
    `The mirror's packages are not those of ${path.basename(lock)}: ${shown.join(', ')}${others.length > 5 ? ` and ${others.length - 5} more` : ''}. ` +
      'Name a mirror that has them with TEMPER_DEBIAN_MIRROR, or take its versions over with --update.',
  );
}

/**
 * Makes a root, and gives it to a program before it is stored or thrown away.
 * @param {{
 *   packages: string[], lock: string, work: string, update?: boolean,
 *   finish?: string, env?: Record<string, string>, target?: string, epoch: number,
 * }} recipe
 *   `work` an empty folder for lists; `finish` a program that gets the root's path; `target` a folder for the root, which is thrown
 *   away where there is none; `epoch` the time stamp of all that is made, in seconds
 * @throws Stop where the packages are not those of the lock, Unreachable where no mirror answers, Error where the root cannot be made
 */
async function makeRoot({ packages, lock, work, update = false, finish, env = {}, target, epoch }) {
  const list = path.join(work, 'packages');
  const mirror = process.env.TEMPER_DEBIAN_MIRROR || defaultMirror;
  const without = ['doc', 'man', 'locale', 'info', 'lintian'].map((name) => `path-exclude=/usr/share/${name}/*`);
  const modules = [
    'sound',
    'drivers/media',
    'drivers/gpu',
    'drivers/net/wireless',
    'drivers/bluetooth',
    'drivers/staging',
  ];
  const args = [
    `--mode=${process.getuid?.() === 0 ? 'root' : 'unshare'}`,
    '--variant=minbase',
    `--format=${target ? 'directory' : 'null'}`,
    `--include=${packages.join(',')}`,
    '--aptopt=APT::Install-Recommends "false"',
    ...[...without, ...modules.map((name) => `path-exclude=/lib/modules/*/kernel/${name}/*`)].map(
      (text) => `--dpkgopt=${text}`,
    ),
    `--customize-hook=${listHook(list)}`,
    ...(finish ? [`--customize-hook='${finish}' "$1"`] : []),
    suite,
    target ?? '/dev/null',
    `deb ${mirror} ${suite} main`,
  ];
  const answer = await run('nice', [await ensureMmdebstrap(), ...args], {
    timeoutMs: 20 * minute,
    env: { ...process.env, ...env, SOURCE_DATE_EPOCH: String(epoch) },
  });
  if (!answer.ok) {
    if (unanswered.test(answer.output)) throw new Unreachable(`the mirror ${mirror} does not answer`);
    throw new Error(`mmdebstrap: ${answer.reason}\n${answer.output.split('\n').slice(-15).join('\n')}`);
  }
  if (update) writeLock(lock, list);
  else compareWithLock(lock, list);
}

module.exports = {
  Unreachable,
  compareWithLock,
  ensureMmdebstrap,
  makeRoot,
  mmdebstrap,
  packagesIn,
  readLock,
  writeLock,
};
