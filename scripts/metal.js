/**
 * `npm run test:metal`: Temper against virtual machines with real firmware, booted into the real ramdisk. `--short` is one
 * deployment without cleaning, `--update-lock` takes the mirror's versions over; other arguments go to Jest.
 * Everything runs in a network, mount and process namespace of its own, which ends with all that is in it, however this ends.
 */

require('./lib/node-version');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { isoMaker } = require('./lib/iso');
const { acceleratorOf, ensureImage, ensureTools } = require('./lib/metal');
const { metalGiven } = require('./lib/metal-given');
const { ensureClients } = require('./lib/python');
const { ensureRamdisk } = require('./lib/ramdisk');
const { networkTools, pathWith, ramdiskTools } = require('./lib/ramdisk-tools');
const { identify } = require('./lib/processes');
const { main, say } = require('./lib/say');
const { cacheDir, modules, root, temporaryDir, writeFile } = require('./lib/paths');
const { recordOf, sweepTemporary } = require('./lib/orphans');
const { run } = require('./lib/run');
const { setUp } = require('./lib/setup');
const { findTemporal } = require('./lib/temporal-binary');
const { overlayRefused, Unfetched } = require('../tools/offline/debian');

const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** What we start is killed as we end, however we end. */
const endsWithUs = ['setpriv', '--pdeathsig', 'KILL'];

/** Puts programs on the PATH of all that is started from now on. @returns why they cannot be had; undefined where they are there */
async function lackingTools(tools) {
  try {
    process.env.PATH = await pathWith(tools, process.env.PATH ?? '');
    return undefined;
  } catch (failure) {
    if (!(failure instanceof Unfetched)) throw failure;
    return `needs ${failure.message}`;
  }
}

/** Why this machine cannot have virtual machines on a network of their own; undefined where it can. */
async function lacking() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'needs Linux on x86_64';
  if (process.getuid?.() !== 0) return 'needs root: it makes a bridge in a network namespace';
  if (!fs.existsSync('/dev/net/tun')) return 'needs /dev/net/tun';
  const network = await lackingTools(networkTools);
  if (network) return network;
  const bridge = await run('unshare', [...namespaces, 'ip', 'link', 'add', 'name', 'metal0', 'type', 'bridge']);
  if (!bridge.ok) return `a bridge cannot be made: ${bridge.reason}`;
  const refused = await overlayRefused();
  // The BMC worker of the tests makes config drives.
  return refused ? `needs overlay mounts: ${refused}` : lackingTools([...ramdiskTools, isoMaker]);
}

/** @returns {Promise<Record<string, string>>} what the tests are given, or why they are skipped; a failure where it cannot be made */
const prepared = (update) =>
  metalGiven(
    lacking,
    () => ensureTools({ update }),
    async (tools) => {
      const { kernel, initrd } = await ensureRamdisk({ kernel: 'cloud-amd64' });
      const image = await ensureImage(tools, { update });
      // Now, for where the system of the tests starts there is no network to fetch it from.
      await findTemporal();
      return { kernel, initrd, image, clients: await ensureClients(), accelerator: await acceleratorOf(tools) };
    },
  );

/**
 * What the first process of the namespaces does: the folder of claimed ports becomes its own, for in another process namespace their
 * holders look dead; then it waits for orphans, which Node does not and libvirt needs.
 */
const first = 'mount --bind "$1" "$2" && shift 2 && "$@"; exit $?';

/** The command that plays the tests, and a folder of their own for temporary files: others' owners look dead as well. */
function isolated(command) {
  const folder = temporaryDir('test');
  writeFile(recordOf(folder), JSON.stringify({ owner: identify(process.pid), processes: [] }));
  const [tmp, ports] = ['tmp', 'ports'].map((name) => path.join(folder, name));
  for (const dir of [tmp, ports, cacheDir('ports')]) fs.mkdirSync(dir, { recursive: true });
  fs.chmodSync(tmp, 0o1777);
  return {
    folder,
    tmp,
    command: [...endsWithUs, 'unshare', ...namespaces, 'sh', '-c', first, 'sh', ports, cacheDir('ports'), ...command],
  };
}

/** Runs a command to its end; an interrupt ends it with all that it started. */
function played(command, env) {
  return new Promise((resolve) => {
    const child = spawn(command[0], command.slice(1), { cwd: root, stdio: 'inherit', env });
    for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(name, () => child.kill('SIGKILL'));
    child.once('close', (status) => resolve(status ?? 1));
  });
}

main(async () => {
  const args = process.argv.slice(2);
  await setUp();
  await sweepTemporary();
  const short = args.includes('--short') ? { TEMPER_TEST_METAL_SHORT: '1' } : {};
  const given = await prepared(args.includes('--update-lock'));
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, ...short, ...given };
  const words = args.filter((word) => word !== '--update-lock' && word !== '--short');
  const projects = ['--selectProjects', 'metal', '--runInBand'];
  const files = args.includes('--short') ? ['--testPathPatterns', 'test/metal/one-machine'] : [];
  const jest = [process.execPath, path.join(modules, 'jest', 'bin', 'jest.js'), ...words, ...projects, ...files];
  if (env.TEMPER_TEST_METAL_MISSING) {
    say(`no metal tests: ${env.TEMPER_TEST_METAL_MISSING}`);
    return played(jest, env);
  }
  const { folder, tmp, command } = isolated(jest);
  try {
    return await played(command, { ...env, TMPDIR: tmp });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
