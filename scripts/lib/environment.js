/** What each process of a system is told: a table of environments. The names are those of `src/process/settings/config.ts`. */

const path = require('node:path');
const { bundle } = require('./paths');
const { demoPassword } = require('./clouds');
const { ipmiFolder } = require('./ipmi');
const { isoFolder } = require('./iso');
const { host } = require('./ports');
const { namespace } = require('./temporal-settings');

/** The ramdisk that hosts of the emulated rack boot from; its image holds nothing but room for arguments. */
const emulatedRamdisk = 'emulated';

/** The URL of the same database for another role. */
function asRole(url, user, password) {
  return Object.assign(new URL(url), { username: user, password }).href;
}

/** Of the C library's arenas two are enough: each keeps what its threads have given back (mallopt(3), M_ARENA_MAX). */
const fewArenas = { MALLOC_ARENA_MAX: '2' };

/** Programs that BMC workers start; those of the system go first. */
const programsPath = () => [process.env.PATH, ipmiFolder(), isoFolder()].filter(Boolean).join(path.delimiter);

/**
 * @param {{
 *   dir: string,
 *   ports: Record<'api' | 'boot' | 'console' | 'identity' | 'rackHttp' | 'rackHttps' | 'rackControl', number>,
 *   secrets: ReturnType<typeof import('./secrets').secretsOf>,
 *   databaseUrl: string, temporalAddress: string, temporalUi?: string,
 *   rackSize: number,
 * }} system
 */
function environments({ dir, ports, secrets, databaseUrl, temporalAddress, temporalUi, rackSize }) {
  const apiUrl = `http://${host}:${ports.api}`;
  // Machines that are not emulated here reach the boot service at an address of theirs.
  const bootHost = process.env.TEMPER_BOOT_HOST || host;
  const ramdisksAt = process.env.TEMPER_RAMDISK_LISTEN || 'api';
  const bootUrl = process.env.TEMPER_BOOT_URL || `http://${bootHost}:${ports.boot}`;
  // Where the boot service passes on what ramdisks ask, they reach nothing else.
  const directUrl = ramdisksAt.includes(':') ? `http://${ramdisksAt}` : apiUrl;
  const ramdiskApiUrl = process.env.TEMPER_BOOT_RAMDISK_API_URL ? bootUrl : directUrl;
  const identityUrl = `http://${host}:${ports.identity}/v3`;
  const common = { TEMPER_SUPERVISED: '1', TEMPER_LOG_LEVEL: process.env.TEMPER_LOG_LEVEL || 'info' };
  const temporal = { TEMPER_TEMPORAL_ADDRESS: temporalAddress, TEMPER_TEMPORAL_NAMESPACE: namespace };
  const database = (role, password) => ({ TEMPER_DATABASE_URL: asRole(databaseUrl, role, password) });
  return {
    migrate: {
      ...common,
      ...temporal,
      TEMPER_DATABASE_URL: databaseUrl,
      TEMPER_API_DB_PASSWORD: secrets.api,
      TEMPER_CONTROL_DB_PASSWORD: secrets.control,
      TEMPER_BMC_DB_PASSWORD: secrets.bmc,
      TEMPER_BOOT_DB_PASSWORD: secrets.boot,
    },
    identity: {
      ...common,
      TEMPER_DEMO_IDENTITY_PORT: String(ports.identity),
      TEMPER_DEMO_IDENTITY_DIR: path.join(dir, 'identity'),
      TEMPER_API_PUBLIC_URL: apiUrl,
    },
    rack: {
      ...common,
      TEMPER_RACK_SIZE: String(rackSize),
      TEMPER_RACK_DIR: path.join(dir, 'rack'),
      TEMPER_RACK_HTTP_PORT: String(ports.rackHttp),
      TEMPER_RACK_HTTPS_PORT: String(ports.rackHttps),
      TEMPER_RACK_CONTROL_PORT: String(ports.rackControl),
      TEMPER_RACK_API_URL: ramdiskApiUrl,
      TEMPER_RACK_RAMDISK_IMAGES: 'http://images.example.org/ramdisk.iso',
    },
    boot: {
      ...common,
      ...database('temper_boot', secrets.boot),
      TEMPER_BOOT_HOST: bootHost,
      TEMPER_BOOT_PORT: String(ports.boot),
      TEMPER_BOOT_DIR: path.join(dir, 'boot'),
      // What machines without a node are booted into, where TEMPER_DISCOVERY says so.
      TEMPER_DEFAULT_RAMDISK: process.env.TEMPER_DEFAULT_RAMDISK || emulatedRamdisk,
      TEMPER_RAMDISK_API_URL: ramdiskApiUrl,
    },
    control: {
      ...common,
      ...temporal,
      ...database('temper_control', secrets.control),
      TEMPER_WORKER_HOSTNAME: 'worker-control',
      ...fewArenas,
      // What it admits targets of rollouts with, as the API admits single runs.
      TEMPER_SECRETS_PUBLIC_KEYS: secrets.publicKeys,
      TEMPER_DEFAULT_RAMDISK: emulatedRamdisk,
      TEMPER_WORKFLOW_BUNDLE: bundle,
    },
    bmc: (group) => ({
      ...common,
      ...temporal,
      TEMPER_SECRETS_PRIVATE_KEYS: secrets.privateKeys,
      TEMPER_SECRETS_PUBLIC_KEYS: secrets.publicKeys,
      ...database('temper_bmc', secrets.bmc),
      PATH: programsPath(),
      TEMPER_CONDUCTOR_GROUP: group,
      TEMPER_WORKER_HOSTNAME: `worker-${group || 'default'}`,
      TEMPER_BOOT_URL: bootUrl,
      TEMPER_RAMDISK_API_URL: ramdiskApiUrl,
      // The emulated rack listens on loopback, where a BMC of the real world never is.
      TEMPER_BMC_NETWORKS: process.env.TEMPER_BMC_NETWORKS || '127.0.0.0/8',
    }),
    api: {
      ...common,
      ...temporal,
      TEMPER_SECRETS_PUBLIC_KEYS: secrets.publicKeys,
      TEMPER_DIGEST_KEYS: secrets.digestKeys,
      ...database('temper_api', secrets.api),
      TEMPER_API_HOST: host,
      TEMPER_API_PORT: String(ports.api),
      TEMPER_PUBLIC_ENDPOINT: apiUrl,
      TEMPER_RAMDISK_LISTEN: ramdisksAt,
      TEMPER_DEFAULT_RAMDISK: emulatedRamdisk,
      TEMPER_AUTH_STRATEGY: 'keystone',
      TEMPER_IDENTITY_URL: identityUrl,
      TEMPER_IDENTITY_USERNAME: 'temper',
      TEMPER_IDENTITY_PASSWORD: demoPassword('temper'),
      TEMPER_IDENTITY_PROJECT: 'service',
      TEMPER_BMC_NETWORKS: process.env.TEMPER_BMC_NETWORKS || '127.0.0.0/8',
      ...(temporalUi && { TEMPER_TEMPORAL_UI_URL: temporalUi }),
    },
    console: {
      ...common,
      TEMPER_CONSOLE_HOST: host,
      TEMPER_CONSOLE_PORT: String(ports.console),
      TEMPER_CONSOLE_API_URL: apiUrl,
      TEMPER_CONSOLE_KEY: secrets.consoleKey,
      TEMPER_CONSOLE_DEMO: path.join(dir, 'clouds.yaml'),
      TEMPER_IDENTITY_URL: identityUrl,
    },
    /** What programs that use the system are told: where its record is, which has all addresses. */
    visitor: {
      TEMPER_SYSTEM_FILE: path.join(dir, 'system.json'),
      OS_CLIENT_CONFIG_FILE: path.join(dir, 'clouds.yaml'),
    },
  };
}

module.exports = { emulatedRamdisk, environments };
