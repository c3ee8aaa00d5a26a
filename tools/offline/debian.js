/**
 * Programs of Debian's packages: from the system where it has them, else unpacked into the per-user cache, so that nothing is
 * installed and nobody needs to be root.
 */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { withLock } = require('../../scripts/lib/lock');
const { cacheDir, temporaryDir } = require('../../scripts/lib/paths');
const { run } = require('../../scripts/lib/run');
const { timed } = require('../../scripts/lib/say');

/** The packages cannot be fetched, which nothing on this machine mends: no mirror, no apt-get, or a mirror that lacks them. */
class Unfetched extends Error {}

/**
 * Which programs belong together. `any`: one of them is enough. `check` is given to the first one, to see it start. `folder` is
 * where the packages have them, where that is neither usr/bin nor bin. `data` are folders that they read and that have to be on the
 * system too, such as usr/lib/grub/i386-pc; where they are not, the programs see the packages' /usr over the system's.
 * @typedef {{
 *   cache: string, packages: string[], names: string[], any?: boolean, check: string, folder?: string, data?: string[],
 * }} Wanted
 */

/**
 * @param {Pick<Wanted, 'names' | 'any'>} wanted
 * @param {string[]} folders
 * @returns {Record<string, string> | undefined} path by name, if those that are wanted are in these folders
 */
function programsIn({ names, any }, folders) {
  const pairs = names.map((name) => [
    name,
    folders.map((dir) => path.join(dir, name)).find((file) => fs.existsSync(file)),
  ]);
  const found = pairs.filter(([, file]) => file);
  return found.length === names.length || (any && found.length > 0) ? Object.fromEntries(found) : undefined;
}

const systemFolders = () =>
  [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/bin'].filter(Boolean);

/** One per system release: the libraries must fit it. */
const dirOf = ({ cache }) => cacheDir(cache, `${os.arch()}-${release()}`);

function release() {
  try {
    const text = fs.readFileSync('/etc/os-release', 'utf8');
    return ['ID', 'VERSION_ID'].map((key) => new RegExp(`^${key}="?([\\w.]+)`, 'm').exec(text)?.[1] ?? 'any').join('-');
  } catch {
    return os.platform();
  }
}

/**
 * The folder of programs that were unpacked before; nothing is fetched.
 * @returns {string | undefined}
 */
function unpackedBefore(wanted) {
  const dir = dirOf(wanted);
  return fs.existsSync(path.join(dir, '.complete')) ? path.join(dir, 'bin') : undefined;
}

/**
 * Makes sure that the programs are there.
 * @param {Wanted} wanted
 * @returns {Promise<Record<string, string>>} their paths
 * @throws Error that says why they cannot be had
 */
async function ensurePrograms(wanted) {
  const isWhole = (wanted.data ?? []).every((folder) => fs.existsSync(path.join('/', folder)));
  const onSystem = isWhole && programsIn(wanted, systemFolders());
  return onSystem || unpackedPrograms(wanted);
}

/**
 * The programs from their packages, whatever the system has.
 * @param {Wanted} wanted
 * @returns {Promise<Record<string, string>>} their paths
 * @throws Unfetched where the packages cannot be had, Error where what is in them does not start
 */
async function unpackedPrograms(wanted) {
  const dir = dirOf(wanted);
  const ready = () => {
    const bin = unpackedBefore(wanted);
    return bin && programsIn(wanted, [bin]);
  };
  const doing = `unpacking ${wanted.names.join(' and ')}`;
  return (
    ready() ??
    withLock(`${dir}.lock`, doing, async () => {
      if (!ready()) await timed(doing, () => unpack(dir, wanted));
      return ready();
    })
  );
}

async function unpack(dir, wanted) {
  fs.rmSync(dir, { recursive: true, force: true });
  const [debs, files, bin] = ['debs', 'root', 'bin'].map((name) => path.join(dir, name));
  for (const one of [debs, files, bin]) fs.mkdirSync(one, { recursive: true });
  await download(wanted.packages, debs);
  for (const deb of fs.readdirSync(debs)) await must('dpkg-deb', ['-x', path.join(debs, deb), files]);
  fs.rmSync(debs, { recursive: true });
  for (const [name, program] of programsOf(wanted, files))
    wrap(path.join(bin, name), program, libraries(files), wanted.data ? path.join(files, 'usr') : undefined);
  // As on the system, a program's data are in ../lib.
  if (wanted.data) fs.symlinkSync(path.join('root', 'usr', 'lib'), path.join(dir, 'lib'));
  await must(path.join(bin, wanted.names[0]), [wanted.check]);
  fs.writeFileSync(path.join(dir, '.complete'), '');
}

/** Pairs of name and path of the programs that an unpacked root has. */
const programsOf = ({ names, folder }, files) =>
  names.flatMap((name) => {
    const found = (folder ? [folder] : [path.join('usr', 'bin'), 'bin'])
      .map((dir) => path.join(files, dir, name))
      .find((file) => fs.existsSync(file));
    return found ? [[name, found]] : [];
  });

/**
 * Downloads the packages, and those they need that the system does not have. A list of packages that is not there yet, or whose
 * versions the mirror no longer has, is fetched by root only.
 * @throws Unfetched
 */
async function download(packages, folder) {
  const attempt = async () => {
    const all = new Set([...packages, ...(await missingPackages(packages))]);
    await apt(['download', '-qq', ...all], { cwd: folder });
  };
  const updated = async () => {
    await apt(['update', '-qq']);
    await attempt();
  };
  try {
    await attempt();
  } catch (failure) {
    if (process.getuid?.() !== 0) throw failure;
    // apt-get lets one update at a time, and refuses the others.
    await withLock(cacheDir('apt.lock'), 'fetching the lists of packages', () => attempt().catch(updated));
  }
}

/** The packages that these need, and the system does not have. */
async function missingPackages(packages) {
  const ask = ['--print-uris', '-y', '-qq', '--no-install-recommends', '-o', 'Debug::NoLocking=1'];
  const { output } = await apt(['install', ...ask, ...packages]);
  return [...output.matchAll(/^'[^']+' ([a-z0-9][a-z0-9+.-]*)_\S+\.deb /gm)].map(([, name]) => name);
}

async function apt(args, options = {}) {
  const answer = await run('apt-get', args, { timeoutMs: 300_000, ...options });
  if (!answer.ok) throw new Unfetched(`apt-get ${args[0]}: ${answer.reason}`);
  return answer;
}

/** Folders of shared libraries below an unpacked root. */
const libraries = (files) =>
  ['lib', 'usr/lib']
    .map((dir) => path.join(files, dir))
    .filter((dir) => fs.existsSync(dir))
    .flatMap((dir) =>
      fs
        .readdirSync(dir)
        .filter((name) => name.includes('-linux-'))
        .map((name) => path.join(dir, name)),
    )
    .flatMap((dir) => [dir, ...privateLibraries(dir)]);

/** Folders within one that hold libraries too, such as those that only one package's other libraries want. */
const privateLibraries = (dir) =>
  fs
    .readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => path.join(dir, name))
    .filter((inner) => fs.readdirSync(inner).some((name) => /^lib.*\.so(\.|$)/.test(name)));

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Lays a folder over the system's /usr for one program, as root or as a user who is root of a namespace: some programs read
 * their data from no other place. Begins a line of a shell script.
 */
const over = (usr) =>
  `unshare --mount $([ "$(id -u)" = 0 ] || echo --map-root-user) sh -c 'mount -t overlay overlay -o "ro,lowerdir=$0:/usr" /usr && exec "$@"' ${quoted(usr)} `;

/** @returns {Promise<string | undefined>} why this machine does not let a folder be laid over another */
async function overlayRefused() {
  const folder = temporaryDir('overlay');
  try {
    const answer = await run('sh', ['-c', `${over(folder)}true`], { timeoutMs: 30_000 });
    return answer.ok ? undefined : answer.reason;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** `exec`, so that a signal ends the program and not a shell in front of it. A program that starts others finds those unpacked with it. */
function wrap(file, program, folders, usr) {
  const before = usr ? over(usr) : '';
  const beside = `PATH=${quoted(path.dirname(file))}:"$PATH" LD_LIBRARY_PATH=${quoted(folders.join(':'))}`;
  const text = `#!/bin/sh\nexec ${before}env ${beside} ${quoted(program)} "$@"\n`;
  fs.writeFileSync(file, text, { mode: 0o755 });
}

async function must(command, args, options = {}) {
  const answer = await run(command, args, { timeoutMs: 300_000, ...options });
  if (!answer.ok) throw new Error(`${path.basename(command)} ${args[0]}: ${answer.reason}`);
}

module.exports = { ensurePrograms, overlayRefused, Unfetched, unpackedBefore, unpackedPrograms };
