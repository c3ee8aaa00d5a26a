/** A whole system on this machine: servers, schema, demo identity, emulated rack, workers and API, in that order. */

const fs = require('node:fs');
const path = require('node:path');
const { accepts, preparePostgres } = require('./postgres');
const { bin, builtTools, readJson, writeFile } = require('./paths');
const { claimPorts, freePort, freePorts, freePortsFor, host, isFree, wellKnown } = require('./ports');
const { emulatedRamdisk, environments } = require('./environment');
const { clockOf } = require('./faketime');
const { isReady, prepareTemporal, temporalFile } = require('./temporal');
const { startProduction } = require('./temporal-production');
const { secretsOf } = require('./secrets');
const { Stop, say } = require('./say');
const { writeClouds } = require('./clouds');

/**
 * Starts everything under the given supervisor.
 * @param {InstanceType<typeof import('./supervisor')['Supervisor']>} supervisor
 * @param {{fresh?: boolean, rackSize?: number, seed?: boolean, entry?: (name: string) => string, clocks?: string, workers?: number,
 *   engine?: 'dev' | 'production'}} [options]
 *   `fresh` is a throw-away system: free ports, servers of its own whatever the settings say; `entry` finds a program;
 *   `clocks` are wrong clocks, as CHAOS_CLOCKS has them; `workers` is how many there are of each kind;
 *   `engine` is Temporal's dev server, or with `fresh` its server of production with its store in the system's PostgreSQL.
 * @returns {Promise<{visitor: Record<string, string>, migrate: Record<string, string>}>} the environments for programs that use
 *   the system, and for a `migrate` of its own
 */
async function bringUp(
  supervisor,
  { fresh = false, rackSize = 8, seed = true, entry = bin, clocks, workers, engine = 'dev' } = {},
) {
  const { dir } = supervisor;
  const external = fresh
    ? {}
    : { databaseUrl: process.env.TEMPER_DATABASE_URL, temporal: process.env.TEMPER_TEMPORAL_ADDRESS };
  const ports = await choosePorts(fresh, external);
  const secrets = secretsOf(dir);

  const database = startDatabase(supervisor, external.databaseUrl, secrets.postgres);
  const [databaseUrl, temporalAddress] = await Promise.all([
    database,
    engine === 'production'
      ? database.then((url) => startEngineOfProduction(supervisor, url, ports))
      : startTemporal(supervisor, external.temporal, ports),
  ]);
  const ownUi = engine === 'production' ? undefined : `http://${host}:${ports.temporalUi}`;
  const temporalUi = external.temporal ? process.env.TEMPER_TEMPORAL_UI_URL : ownUi;
  const env = environments({ dir, ports, secrets, databaseUrl, temporalAddress, temporalUi, rackSize });
  const clouds = writeClouds(dir, env.api.TEMPER_IDENTITY_URL);
  supervisor.addresses = addressesOf({ ports, databaseUrl, temporalAddress, temporalUi, clouds });

  const node = (name, program, environment, ...args) =>
    nodeProcess(name, entry(program), { ...environment, ...clockOf(name, clocks) }, args);
  await supervisor.once(node('migrate', 'migrate', env.migrate));
  const watched = [
    node('identity', 'demo-identity', env.identity),
    node('rack', 'rack', env.rack),
    ...workersOf(workers, 'worker-control', (name) => node(name, 'worker', named(env.control, name), 'control')),
    ...conductorGroups().flatMap((group) =>
      workersOf(workers, `worker-bmc-${group || 'default'}`, (name) =>
        node(name, 'worker', named(env.bmc(group), name), 'bmc'),
      ),
    ),
    node('boot', 'boot', env.boot),
    node('api', 'api', env.api),
    ...(env.api.TEMPER_RAMDISK_LISTEN.includes(':') ? [node('api-ramdisks', 'api', env.api, 'ramdisks')] : []),
    node('console', 'console', env.console),
  ];
  await startInOrder(supervisor, watched);
  await addRamdiskOnce(supervisor, (iso) =>
    node(
      'ramdisk',
      'temper',
      {
        ...env.visitor,
        TEMPER_URL: undefined,
        TEMPER_TOKEN: undefined,
        OS_CLOUD: 'operator',
        TEMPER_BOOT_DIR: env.boot.TEMPER_BOOT_DIR,
      },
      ...['ramdisk', 'add'],
      emulatedRamdisk,
      '--iso',
      iso,
    ),
  );
  if (seed && fs.existsSync(entry('seed'))) await seedOnce(supervisor, node('seed', 'seed', env.visitor));
  return { visitor: env.visitor, migrate: env.migrate };
}

/** One worker of a kind, or as many as are wanted or CHAOS_WORKERS says: `worker-control`, `worker-control-2`. */
const workersOf = (workers, name, make) =>
  Array.from({ length: workers ?? Number(process.env.CHAOS_WORKERS ?? 1) }, (_, at) =>
    make(at === 0 ? name : `${name}-${at + 1}`),
  );

/** A second worker is another one to the others. */
const named = (environment, name) =>
  /-\d+$/.test(name) ? { ...environment, TEMPER_WORKER_HOSTNAME: name } : environment;

/** Comma-separated names; the empty one is the default group. */
const conductorGroups = () => (process.env.TEMPER_CONDUCTOR_GROUPS ?? '').split(',').map((name) => name.trim());

/** Ports of the processes that will be ours; those of a server that runs already are not ours to claim. */
async function choosePorts(fresh, external) {
  /** @type {Partial<typeof wellKnown>} */
  const table = { ...wellKnown };
  if (external.temporal) {
    delete table.temporal;
    delete table.temporalUi;
  }
  return fresh ? freePortsFor(Object.keys(table)) : claimPorts(table);
}

async function startDatabase(supervisor, given, password) {
  if (given) {
    if (!(await accepts(given)))
      throw new Stop('Nothing answers at TEMPER_DATABASE_URL; start that server or unset it.');
    say('PostgreSQL: the server of TEMPER_DATABASE_URL');
    return given;
  }
  const port = await rememberedPort(supervisor.dir);
  const spec = await preparePostgres({ dir: path.join(supervisor.dir, 'postgres'), port, password });
  await supervisor.start(spec);
  say(`PostgreSQL: ready on port ${port}`);
  return spec.url;
}

/** The database keeps its port from start to start while nobody else takes it, so that noted-down URLs stay right. */
async function rememberedPort(dir) {
  const file = path.join(dir, 'ports.json');
  const kept = readJson(file, {}).postgres;
  if (kept && (await isFree(kept))) return kept;
  const port = await freePort();
  writeFile(file, `${JSON.stringify({ postgres: port })}\n`);
  return port;
}

async function startTemporal(supervisor, given, ports) {
  if (given) {
    if (!(await isReady(given, { ours: false }))) {
      throw new Stop(
        'Nothing answers at TEMPER_TEMPORAL_ADDRESS, or it has no namespace "temper"; start or prepare that server, or unset it.',
      );
    }
    say(`Temporal: the server at ${given}`);
    return given;
  }
  const file = temporalFile(supervisor.dir);
  const spec = await prepareTemporal({ port: ports.temporal, uiPort: ports.temporalUi, file });
  await supervisor.start(spec);
  say(`Temporal: ready on port ${ports.temporal}`);
  return spec.address;
}

async function startEngineOfProduction(supervisor, databaseUrl, ports) {
  const address = await startProduction(supervisor, { databaseUrl, port: ports.temporal });
  say(`Temporal: the server of production is ready on port ${ports.temporal}, its store is in PostgreSQL`);
  return address;
}

/** A Node program as a child: its own channel to notice our death, its own health port. */
function nodeProcess(name, file, environment, args) {
  if (!fs.existsSync(file)) throw new Stop(`${name} cannot start: ${file} was not built.`);
  return {
    name,
    command: process.execPath,
    args: ['--enable-source-maps', file, ...args],
    options: { env: { ...process.env, ...environment } },
    ipc: true,
    // A worker gives its activities 30 s to come to a halt.
    graceMs: 35_000,
  };
}

/** One after the other, each when the one before answers 200 at /readyz. */
async function startInOrder(supervisor, processes) {
  const healthPorts = await freePorts(processes.length);
  for (const [index, spec] of processes.entries()) {
    const health = healthPorts[index];
    spec.options.env.TEMPER_HEALTH_PORT = String(health);
    await supervisor.start({ ...spec, ready: () => saysReady(`http://${host}:${health}/readyz`) });
    say(`${spec.name}: ready`);
  }
}

async function saysReady(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).status === 200;
  } catch {
    return false;
  }
}

/** The ramdisk of the emulated rack is recorded in a data folder once; its image is made here, for no firmware is to start it. */
async function addRamdiskOnce(supervisor, specOf) {
  const mark = path.join(supervisor.dir, '.ramdisk');
  const iso = path.join(supervisor.dir, 'emulated.iso');
  if (fs.existsSync(mark)) return;
  const { emulatedImage } = require(path.join(builtTools, 'emulator', 'rack', 'emulated-image.js'));
  fs.writeFileSync(iso, emulatedImage());
  await supervisor.once(specOf(iso));
  fs.rmSync(iso);
  fs.writeFileSync(mark, '');
}

/** Seed data goes into a data folder once; what somebody deletes stays deleted. */
async function seedOnce(supervisor, spec) {
  const mark = path.join(supervisor.dir, '.seeded');
  if (fs.existsSync(mark)) return;
  await supervisor.once(spec);
  fs.writeFileSync(mark, '');
  say('seed data: loaded');
}

const addressesOf = ({ ports, databaseUrl, temporalAddress, temporalUi, clouds }) => ({
  console: `http://${host}:${ports.console}`,
  api: `http://${host}:${ports.api}`,
  identity: `http://${host}:${ports.identity}/v3`,
  temporal: temporalAddress,
  temporalUi,
  rack: `http://${host}:${ports.rackHttp}`,
  rackHttps: `https://${host}:${ports.rackHttps}`,
  rackControl: `http://${host}:${ports.rackControl}`,
  postgresUrl: databaseUrl,
  clouds,
});

module.exports = { bringUp };
