/** A PostgreSQL server of our own: made once, found again after a crash, described so that a supervisor can run it. */

const fs = require('node:fs');
const path = require('node:path');
const { clusterDir, programs, serverUser } = require('./postgres-files');
const { end, identify, runs } = require('./processes');
const { host } = require('./ports');
const { run } = require('./run');
const { Stop, say, timed } = require('./say');

/** The cluster's superuser. */
const superuser = 'postgres';

/** Settings of every server: loopback only, no socket files, room for Temper's pools. */
const settings = { listen_addresses: host, unix_socket_directories: '', max_connections: 200, shared_buffers: '128MB' };

/** A server for tests may lose everything in a crash, and is faster for it. */
const forgetful = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
};

/**
 * Makes the cluster if there is none and stops a server that an earlier parent left behind.
 * @param {{dir: string, port: number, password: string, durable?: boolean, bin?: string}} wish `dir` is the cluster's folder, `bin`
 *   that of other programs than the embedded ones.
 * @returns {Promise<import('./child').ChildSpec & {url: string}>} what to spawn, and the owner's URL of its database `postgres`
 */
async function preparePostgres({ dir, port, password, durable = true, bin: given }) {
  const user = serverUser();
  const cluster = clusterDir(dir, user);
  const bin = given ?? (await programs(user));
  const spawnOptions = {
    cwd: path.dirname(cluster),
    env: serverEnvironment(),
    ...(user && { uid: user.uid, gid: user.gid }),
  };
  if (user) spawnOptions.cwd = '/';
  if (!fs.existsSync(path.join(cluster, 'PG_VERSION')))
    await makeCluster({ bin, cluster, password, spawnOptions, user });
  const flags = Object.entries({ ...settings, ...(durable ? {} : forgetful) }).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ]);
  const url = `postgres://${superuser}:${encodeURIComponent(password)}@${host}:${port}/postgres`;
  return {
    name: 'postgres',
    command: path.join(bin, 'postgres'),
    args: ['-D', cluster, '-p', String(port), ...flags],
    options: spawnOptions,
    // SIGINT is PostgreSQL's "fast" shutdown: it ends sessions instead of waiting for them.
    stopSignal: 'SIGINT',
    beforeStart: () => stopLeftover(cluster),
    // One that was killed blocks the next for a moment: its sessions are still ending, or nobody has reaped its process yet.
    tries: 10,
    ready: () => accepts(url),
    url,
  };
}

/** Nothing of the user's locale or libpq settings reaches the server. */
const serverEnvironment = () => ({ PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' });

async function makeCluster({ bin, cluster, password, spawnOptions, user }) {
  fs.rmSync(cluster, { recursive: true, force: true }); // an initdb that was interrupted leaves a folder that it refuses later
  fs.mkdirSync(cluster, { recursive: true, mode: 0o700 });
  const passwordFile = path.join(path.dirname(cluster), `.password-${process.pid}`);
  fs.writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user) for (const file of [cluster, passwordFile]) fs.chownSync(file, user.uid, user.gid);
  const flags = [`--pgdata=${cluster}`, `--username=${superuser}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  try {
    await timed('making a PostgreSQL cluster', async () => {
      const made = await run(
        path.join(bin, 'initdb'),
        [...flags, '--encoding=UTF8', '--no-locale', '--no-sync'],
        spawnOptions,
      );
      if (!made.ok) throw new Stop(`PostgreSQL's initdb failed:\n${made.output}`);
    });
  } catch (failure) {
    fs.rmSync(cluster, { recursive: true, force: true });
    throw failure;
  } finally {
    fs.rmSync(passwordFile, { force: true });
  }
}

/**
 * Two servers on one cluster destroy it, so the one of a killed parent is stopped first. PostgreSQL writes its pid on
 * the first line of postmaster.pid and its folder on the second; the pid may be somebody else's after a reboot.
 */
async function stopLeftover(cluster) {
  const file = path.join(cluster, 'postmaster.pid');
  if (!fs.existsSync(file)) return;
  const server = identify(Number(fs.readFileSync(file, 'utf8').split('\n', 1)[0]));
  if (!runs(server) || !server.command.includes(cluster)) return;
  say(`stopping a PostgreSQL server left behind (pid ${server.pid})`);
  await end(server, { with: 'SIGINT', graceMs: 20_000 });
}

/** Whether the server accepts a session. */
async function accepts(url) {
  const postgres = require('postgres');
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice() {}, fetch_types: false });
  try {
    await sql`select 1`;
    return true;
  } catch (failure) {
    // 57P03: starting up. No connection at all: not listening yet. Anything else will not change by waiting.
    if (failure.code === '57P03' || String(failure.code).startsWith('ECONN') || failure.code === 'CONNECT_TIMEOUT')
      return false;
    throw new Stop(`PostgreSQL answers, but refuses us: ${failure.message}`);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

module.exports = { accepts, preparePostgres };
