/** The npm packages: installed from the lock file when they are missing or older than it. */

const fs = require('node:fs');
const path = require('node:path');
const { fingerprint, readStamp } = require('./fingerprint');
const { locks, modules, root, writeFile } = require('./paths');
const { run } = require('./run');
const { Stop, timed } = require('./say');
const { withLock } = require('./lock');

const lockFile = path.join(root, 'package-lock.json');
const stamp = path.join(modules, '.temper-stamp');

const wanted = () => fingerprint([lockFile], process.platform, process.arch);

/** Whether npm's own record of what it installed names the same versions as the lock file. */
function sameAsLockFile() {
  const installed = packages(path.join(modules, '.package-lock.json'));
  const locked = packages(lockFile);
  return Boolean(
    installed &&
      locked &&
      Object.keys(installed).every((name) => installed[name].version === locked[name]?.version) &&
      Object.keys(locked).every((name) => name === '' || locked[name].optional || name in installed),
  );
}

function packages(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Makes sure that node_modules is what package-lock.json says. */
async function ensureDependencies() {
  if (readStamp(stamp) === wanted()) return;
  await withLock(path.join(locks, 'dependencies'), 'installing npm packages', async () => {
    if (readStamp(stamp) === wanted()) return;
    if (!sameAsLockFile()) await install();
    writeFile(stamp, wanted());
  });
}

async function install() {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  await timed('installing npm packages (npm ci)', async () => {
    const answer = await run(npm, ['ci', '--no-audit', '--no-fund'], {
      cwd: root,
      shell: process.platform === 'win32',
    });
    if (!answer.ok) throw new Stop(`npm ci failed:\n${saying(answer.output)}`);
  });
}

/** npm's reasons come first, its help text last. */
function saying(output) {
  const lines = output.split('\n').filter((line) => line.startsWith('npm error'));
  return lines.slice(0, 12).join('\n') || output.slice(-1_000);
}

module.exports = { ensureDependencies };
