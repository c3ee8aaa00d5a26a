/** The boot service: serves images to nodes and relays ramdisk requests to the API. It only reads PostgreSQL. */
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  bootListener,
  createImageCache,
  createImages,
  createMachineList,
  createRelay,
  type Discovery,
  isRelayed,
  type SmallFile,
} from '../boot';
import { createInventory, type Inventory } from '../inventory';
import { connect } from '../inventory/database';
import { trustIn } from '../model/access/senders';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { glanceFrom } from '../process/glance';
import { guardedServer, timeoutsWith } from '../process/guarded-server';
import { counted, gentleEnd, listen } from '../process/listen';
import { live } from '../process/process';
import { schemaCheck } from '../process/schema';
import type { BootConfig } from '../process/settings/config';
import { settingFile } from '../process/settings/files';
import { readConfig } from '../process/settings/read';

const config = readConfig('boot');
const log = createLog('boot', config.TEMPER_LOG_LEVEL);
const metrics = createMetrics('boot');

// openstack/ironic:ironic/drivers/modules/image_utils.py writes the API's CA certificates here.
const certificatePath = 'etc/ironic-python-agent/ironic.crt';
const certificateConfig = `[DEFAULT]\ncafile = /${certificatePath}\n`;

const smallFiles = ({ TEMPER_BOOT_CA_FILE: file }: BootConfig): SmallFile[] =>
  file === undefined
    ? []
    : [
        { path: certificatePath, content: settingFile('TEMPER_BOOT_CA_FILE', file) },
        { path: 'etc/ironic-python-agent.d/temper-tls.conf', content: Buffer.from(certificateConfig) },
      ];

const machinesMs = 5_000;

/** @returns stops it */
const keepMachines = (inventory: Inventory, dir: string): (() => void) => {
  const write = createMachineList({ dir, machines: () => inventory.networkBoots.machines(), log });
  const look = () => write().catch((error) => log.warn('machines of DHCP not written', { error }));
  void look();
  const timer = setInterval(() => void look(), machinesMs);
  return () => clearInterval(timer);
};

const discoveryIn = (config: BootConfig, { discoveryBoots: store }: Inventory): Discovery | undefined => {
  const { TEMPER_DISCOVERY: wanted, TEMPER_DEFAULT_RAMDISK: ramdisk, TEMPER_RAMDISK_API_URL: apiUrl } = config;
  if (!wanted) return undefined;
  if (ramdisk !== undefined && apiUrl !== undefined) return { ramdisk, apiUrl, store };
  log.warn('machines without a node are not booted', { lacking: 'TEMPER_DEFAULT_RAMDISK or TEMPER_RAMDISK_API_URL' });
  return undefined;
};

const withRelay = (config: BootConfig, images: RequestListener): RequestListener => {
  const { TEMPER_BOOT_RAMDISK_API_URL: url, TEMPER_TRUSTED_PROXIES: proxies = [] } = config;
  if (url === undefined) return images;
  const deps = { api: new URL(url), trusts: trustIn(proxies), log };
  const relay = counted(metrics, 'ramdisk request', createRelay(deps));
  return (request, response) => (isRelayed(request.url) ? relay : images)(request, response);
};

live('boot', config, { log, metrics }, async (life) => {
  const files = smallFiles(config);
  const inventory = createInventory(
    connect(config.TEMPER_DATABASE_URL, { max: config.TEMPER_DATABASE_POOL, name: 'temper-boot' }),
  );
  life.onEnd(() => inventory.close());
  const images = createImages(config.TEMPER_BOOT_DIR, (reason, facts) =>
    log.warn('boot image cannot be served', { ...facts, reason }),
  );
  life.onEnd(() => images.close());
  const glance = glanceFrom(config);
  life.onEnd(async () => glance?.close());
  const imageCache = createImageCache({
    dir: config.TEMPER_BOOT_DIR,
    mostBytes: config.TEMPER_BOOT_IMAGES_MB * 2 ** 20,
    inventory,
    origins: config.TEMPER_IMAGE_ORIGINS,
    ...(glance && { glance }),
    log,
  });
  life.onEnd(() => imageCache.close());
  const dhcp = config.TEMPER_BOOT_DHCP_DIR;
  const trusts = trustIn(config.TEMPER_TRUSTED_PROXIES ?? []);
  const discovery = discoveryIn(config, inventory);
  const listener = bootListener({
    inventory,
    images,
    imageCache,
    ...(glance && { glance }),
    files,
    log,
    pieceMs: config.TEMPER_BOOT_PIECE_MS,
    trusts,
    ...(discovery && { discovery }),
    ...(dhcp !== undefined && { loaders: join(dhcp, 'tftp') }),
  });
  if (dhcp !== undefined) life.onEnd(keepMachines(inventory, dhcp));
  const perAddress = { TEMPER_CONNECTIONS_PER_ADDRESS: config.TEMPER_BOOT_CONNECTIONS_PER_ADDRESS };
  const timeouts = timeoutsWith({ ...config, ...perAddress }, config.TEMPER_REQUEST_TIMEOUT_MS);
  const server = guardedServer(timeouts, withRelay(config, counted(metrics, 'boot image', listener)));
  life.onEnd(gentleEnd(server));
  const at = { host: config.TEMPER_BOOT_HOST, port: config.TEMPER_BOOT_PORT };
  const names = { hostSetting: 'TEMPER_BOOT_HOST', portSetting: 'TEMPER_BOOT_PORT' };
  await listen(server, { ...at, ...names }, (error) => log.warn('boot socket', { error }));
  log.info('listening', { host: at.host, port: (server.address() as AddressInfo).port });
  const requireSchema = schemaCheck(inventory);
  life.ready(async () => {
    await inventory.ping();
    await requireSchema();
  });
});
