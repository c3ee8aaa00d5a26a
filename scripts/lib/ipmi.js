/**
 * ipmitool, and ipmi_sim to try it on: from the system, else from Debian's packages, unpacked into the per-user cache so
 * that nothing is installed and nobody needs to be root. As a program it prints `{"programs": {...}}` or `{"missing": reason}`.
 */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { withLock } = require('./lock');
const { cacheDir } = require('./paths');
const { run } = require('./run');
const { timed } = require('./say');

const names = ['ipmitool', 'ipmi_sim'];
const packages = ['ipmitool', 'openipmi'];

/** @returns {Record<string, string> | undefined} path by name, if all are in these folders */
function programsIn(folders) {
  const found = names.map((name) => folders.map((dir) => path.join(dir, name)).find((file) => fs.existsSync(file)));
  return found.every(Boolean) ? Object.fromEntries(names.map((name, index) => [name, found[index]])) : undefined;
}

const systemFolders = () =>
  [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/bin'].filter(Boolean);

/** One per system release: the libraries must fit it. */
const dirOf = () => cacheDir('ipmi', `${os.arch()}-${release()}`);

function release() {
  try {
    const text = fs.readFileSync('/etc/os-release', 'utf8');
    return ['ID', 'VERSION_ID'].map((key) => new RegExp(`^${key}="?([\\w.]+)`, 'm').exec(text)?.[1] ?? 'any').join('-');
  } catch {
    return os.platform();
  }
}

/**
 * Makes sure that both programs are there.
 * @returns {Promise<{ipmitool: string, ipmi_sim: string}>} their paths
 * @throws Error that says why they cannot be had
 */
async function ensureIpmi() {
  const onSystem = programsIn(systemFolders());
  if (onSystem) return onSystem;
  const dir = dirOf();
  const ready = () => (fs.existsSync(path.join(dir, '.complete')) ? programsIn([path.join(dir, 'bin')]) : undefined);
  return (
    ready() ??
    withLock(`${dir}.lock`, 'unpacking ipmitool and ipmi_sim', async () => {
      if (!ready()) await timed('unpacking ipmitool and ipmi_sim', () => unpack(dir));
      return ready();
    })
  );
}

async function unpack(dir) {
  fs.rmSync(dir, { recursive: true, force: true });
  const [debs, files, bin] = ['debs', 'root', 'bin'].map((name) => path.join(dir, name));
  for (const one of [debs, files, bin]) fs.mkdirSync(one, { recursive: true });
  await must('apt-get', ['download', '-qq', ...(await missingPackages())], { cwd: debs });
  for (const deb of fs.readdirSync(debs)) await must('dpkg-deb', ['-x', path.join(debs, deb), files]);
  fs.rmSync(debs, { recursive: true });
  for (const name of names) wrap(path.join(bin, name), path.join(files, 'usr', 'bin', name), libraries(files));
  await must(path.join(bin, 'ipmitool'), ['-V']);
  fs.writeFileSync(path.join(dir, '.complete'), '');
}

/** The packages and those they need that the system does not have. A list of packages that is not there yet is fetched by root only. */
async function missingPackages() {
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
    );

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

if (require.main === module)
  ensureIpmi()
    .then((programs) => ({ programs }))
    .catch((failure) => ({ missing: failure.message }))
    .then((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`));

module.exports = { ensureIpmi };
