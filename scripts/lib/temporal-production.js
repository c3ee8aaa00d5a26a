/** A Temporal server as production has it: the settings and scripts of docker-compose.yml and deploy/temporal, without containers. */

const fs = require('node:fs');
const path = require('node:path');
const { ensureServer } = require('../../tools/offline/temporal-sources');
const { findTemporal } = require('./temporal-binary');
const { answers, freePorts, host } = require('./ports');
const { isReady } = require('./temporal');
const { namespace } = require('./temporal-settings');
const { root } = require('./paths');
const { until } = require('./processes');
const { Stop } = require('./say');

const deployed = path.join(root, 'deploy', 'temporal');

/** Ports of a server beside that of its callers: where its services find each other. */
const innerPorts = [
  'FRONTEND_HTTP_PORT',
  'FRONTEND_MEMBERSHIP_PORT',
  ...['HISTORY', 'MATCHING', 'WORKER'].flatMap((service) => [`${service}_GRPC_PORT`, `${service}_MEMBERSHIP_PORT`]),
];

/** A value of a compose file: a variable that it names is the environment's, or what stands behind `:-`. */
const filledIn = (text, env) =>
  String(text).replace(/\$\{(\w+)(?::-([^}]*))?[^}]*\}/g, (_, name, otherwise = '') => env[name] || otherwise);

/**
 * What the server is started with: the environment of the service `temporal` of docker-compose.yml, by which its built-in template of a
 * configuration is filled, and in place of the networks of containers the loopback address.
 * @param {string} compose text of docker-compose.yml
 * @param {{databaseUrl: string, ports: number[], env?: NodeJS.ProcessEnv}} given `databaseUrl` is a superuser's; `ports` are free: that of
 *   callers, then one for each of the server's own
 * @returns {Record<string, string>}
 */
function serverEnvironment(compose, { databaseUrl, ports: [port, ...inner], env = process.env }) {
  const { services } = require('yaml').parse(compose, { merge: true });
  const written = Object.entries(services.temporal.environment).map(([name, text]) => [name, filledIn(text, env)]);
  const store = new URL(databaseUrl);
  return {
    ...Object.fromEntries(written),
    POSTGRES_SEEDS: store.hostname,
    DB_PORT: store.port,
    POSTGRES_USER: decodeURIComponent(store.username),
    POSTGRES_PWD: decodeURIComponent(store.password),
    BIND_ON_IP: host,
    TEMPORAL_BROADCAST_ADDRESS: host,
    DYNAMIC_CONFIG_FILE_PATH: path.join(deployed, 'dynamic-config.yaml'),
    FRONTEND_GRPC_PORT: String(port),
    ...Object.fromEntries(innerPorts.map((name, at) => [name, String(inner[at])])),
  };
}

/**
 * Starts it on a PostgreSQL server that is there, in two databases that it makes; its namespace is there when this is done, and its
 * search attributes are `migrate`'s to register.
 * @param {InstanceType<typeof import('./supervisor')['Supervisor']>} supervisor
 * @param {{databaseUrl: string, port: number}} wish `databaseUrl` is a superuser's
 * @returns {Promise<string>} its address
 */
async function startProduction(supervisor, { databaseUrl, port }) {
  const programs = await ensureServer();
  const env = serverEnvironment(fs.readFileSync(path.join(root, 'docker-compose.yml'), 'utf8'), {
    databaseUrl,
    ports: [port, ...(await freePorts(innerPorts.length))],
  });
  const address = `${host}:${port}`;
  const { DB_PORT, POSTGRES_SEEDS, POSTGRES_USER, POSTGRES_PWD } = env;
  const sql = { SQL_HOST: POSTGRES_SEEDS, SQL_PORT: DB_PORT, SQL_USER: POSTGRES_USER, SQL_PASSWORD: POSTGRES_PWD };
  await supervisor.once(script('schema', programs, sql));
  await supervisor.start({
    name: 'temporal',
    command: path.join(programs, 'temporal-server'),
    args: ['--allow-no-auth', 'start'],
    options: { env: { PATH: process.env.PATH, ...env } },
    umask: 0o077,
    ready: () => answers(port),
    graceMs: 30_000,
  });
  const named = { TEMPORAL_ADDRESS: address, TEMPER_TEMPORAL_NAMESPACE: namespace };
  await supervisor.once(script('namespace', await folderOfTemporal(supervisor.dir), named));
  if (!(await until(() => isReady(address, { ours: false }), 60_000)))
    throw new Stop(`Temporal at ${address} does not know its namespace`);
  return address;
}

/** A script of deploy/temporal, which finds its program on PATH. */
const script = (name, folder, env) => ({
  name: `temporal-${name}`,
  command: 'sh',
  args: [path.join(deployed, `${name}.sh`)],
  options: { env: { PATH: [folder, process.env.PATH].join(path.delimiter), HOME: process.env.HOME, ...env } },
});

/** The CLI under its own name, which the file it was found as need not have. */
async function folderOfTemporal(dir) {
  const folder = path.join(dir, 'temporal');
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  fs.symlinkSync(path.resolve(await findTemporal()), path.join(folder, 'temporal'));
  return folder;
}

module.exports = { innerPorts, serverEnvironment, startProduction };
