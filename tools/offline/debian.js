/**
 * Programs of Debian's packages: from the system where it has them, else unpacked into the per-user cache, so that nothing is
 * installed and nobody needs to be root.
 */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { withLock } = require('../../scripts/lib/lock');
const { cacheDir } = require('../../scripts/lib/paths');
const { run } = require('../../scripts/lib/run');
const { timed } = require('../../scripts/lib/say');

/**
 * Which programs belong together. `any`: one of them is enough. `check` is given to the first one, to see it start. `folder` is
 * where the packages have them, where that is not usr/bin.
 * @typedef {{cache: string, packages: string[], names: string[], any?: boolean, check: string, folder?: string}} Wanted
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
  const onSystem = programsIn(wanted, systemFolders());
  if (onSystem) return onSystem;
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

async function unpack(dir, { packages, names, check, folder = path.join('usr', 'bin') }) {
  fs.rmSync(dir, { recursive: true, force: true });
  const [debs, files, bin] = ['debs', 'root', 'bin'].map((name) => path.join(dir, name));
  for (const one of [debs, files, bin]) fs.mkdirSync(one, { recursive: true });
  await must('apt-get', ['download', '-qq', ...(await missingPackages(packages))], { cwd: debs });
  for (const deb of fs.readdirSync(debs)) await must('dpkg-deb', ['-x', path.join(debs, deb), files]);
  fs.rmSync(debs, { recursive: true });
  const there = names.filter((name) => fs.existsSync(path.join(files, folder, name)));
  for (const name of there) wrap(path.join(bin, name), path.join(files, folder, name), libraries(files));
  await must(path.join(bin, names[0]), [check]);
  fs.writeFileSync(path.join(dir, '.complete'), '');
}

/** The packages and those they need that the system does not have. A list of packages that is not there yet is fetched by root only. */
async function missingPackages(packages) {
  const ask = [
    'install',
    '--print-uris',
    '-y',
    '-qq',
    '--no-install-recommends',
    '-o',
    'Debug::NoLocking=1',
    ...packages,
  ];
  let answer = await run('apt-get', ask, { timeoutMs: 60_000 });
  if (!answer.ok && process.getuid?.() === 0) {
    await must('apt-get', ['update', '-qq']);
    answer = await run('apt-get', ask, { timeoutMs: 60_000 });
  }
  if (!answer.ok) throw new Error(`apt-get does not know ${packages.join(' and ')}: ${answer.reason}`);
  return [...answer.output.matchAll(/^'[^']+' ([a-z0-9][a-z0-9+.-]*)_\S+\.deb /gm)].map(([, name]) => name);
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

/** `exec`, so that whoever ends the program ends it and not a shell in front of it. */
function wrap(file, program, folders) {
  const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const text = `#!/bin/sh\nLD_LIBRARY_PATH=${quoted(folders.join(':'))} exec ${quoted(program)} "$@"\n`;
  fs.writeFileSync(file, text, { mode: 0o755 });
}

async function must(command, args, options = {}) {
  const answer = await run(command, args, { timeoutMs: 300_000, ...options });
  if (!answer.ok) throw new Error(`${path.basename(command)} ${args[0]}: ${answer.reason}`);
}

module.exports = { ensurePrograms, unpackedBefore };
