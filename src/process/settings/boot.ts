/** Settings of the boot service and its public URLs. */
import { count, milliseconds, nonEmptyText, port, webUrl } from './kinds';

export const bootServiceSettings = {
  TEMPER_BOOT_HOST: nonEmptyText.default('127.0.0.1').describe('Address that the boot service listens on.'),
  TEMPER_BOOT_PORT: port.default(6386).describe('Its port.'),
  TEMPER_BOOT_DIR: nonEmptyText.describe(
    'Folder of boot images, which `temper ramdisk add` writes and the boot service reads. No default: it holds what machines are booted from.',
  ),
  TEMPER_BOOT_CA_FILE: nonEmptyText
    .optional()
    .describe(
      'File with the certificates (PEM) that ramdisks trust their own API by; it is put into every boot image. None when unset.',
    ),
  TEMPER_BOOT_DHCP_DIR: nonEmptyText
    .optional()
    .describe(
      'Folder that `temper boot dnsmasq` made. The boot service keeps in it the list of machines that DHCP answers, and serves its boot loaders by HTTP. None when unset.',
    ),
  TEMPER_BOOT_PIECE_MS: milliseconds
    .default(30_000)
    .describe('How long a BMC may take to read 64 KiB of an image before its connection is closed.'),
  TEMPER_BOOT_IMAGES_MB: count(1)
    .default(51_200)
    .describe(
      'MiB that images of image records take in TEMPER_BOOT_DIR at most; those that no run writes make room for others, the longest unused first.',
    ),
  TEMPER_BOOT_RAMDISK_API_URL: webUrl
    .optional()
    .describe(
      'The address of ramdisks (TEMPER_RAMDISK_LISTEN) as the boot service reaches it. Requests of ramdisks at the boot service’s address (lookup, heartbeat, continue_inspection) are passed on to it. The API must have the boot service among its TEMPER_TRUSTED_PROXIES. Nothing is passed on when unset.',
    ),
  TEMPER_BOOT_CONNECTIONS_PER_ADDRESS: count(1)
    .default(256)
    .describe(
      'Connections of one address (of IPv6: of one network of 56 bits) to the boot service at most; further ones are closed. TEMPER_TRUSTED_PROXIES are excepted.',
    ),
};

/** Settings of BMC workers for boots from a ramdisk record. */
export const ramdiskBootSettings = {
  TEMPER_BOOT_URL: webUrl
    .optional()
    .describe(
      'The boot service as BMCs reach it, such as http://192.0.2.1:6386; nodes cannot be booted from a ramdisk record when unset.',
    ),
  TEMPER_BOOT_IMAGES_URL: webUrl
    .optional()
    .describe(
      'The boot service as ramdisks reach it, which read images of image records there; TEMPER_BOOT_URL when unset.',
    ),
  TEMPER_RAMDISK_API_URL: webUrl
    .optional()
    .describe(
      'The API as ramdisks reach it (TEMPER_RAMDISK_LISTEN), without /v1: their ipa-api-url; nodes cannot be booted from a ramdisk record when unset.',
    ),
};
