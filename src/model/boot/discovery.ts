/** What is kept of a machine that no node stands for: what it claims of itself, within bounds. */
import { isIpAddress } from '../access/bmc-addresses';
import { asDocument, type Document } from '../document';
import { isMac } from '../ids';
import { textOf } from '../texts';

/** How much may be kept of machines that need no login to be kept. */
export const discoveryLimits = {
  /** Records of all machines. */
  records: 5_000,
  /** Records that reports of one address have made. */
  ofSender: 16,
  /** Records with one MAC address in common. */
  sharing: 8,
  /** Bytes of one machine's inventory, as JSON. */
  bytes: 256 * 1024,
} as const;

export const discoveredStates = ['waiting', 'refused'] as const;
export type DiscoveredState = (typeof discoveredStates)[number];

/** What a machine claims of itself. */
export type DiscoveredClaims = {
  /** Lower case, sorted, each once. */
  readonly macs: readonly string[];
  readonly boot_mac: string | null;
  readonly arch: string | null;
  readonly bmc_address: string | null;
  readonly vendor: string | null;
  readonly product: string | null;
  readonly serial: string | null;
};

const longest = 255;

const claimOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, longest) : null;

/** The agent sends the kernel's BOOTIF as it is: a hardware type before the address, and dashes in it. */
const bootMacOf = (value: unknown, macs: readonly string[]): string | null => {
  const mac = textOf(value)
    .toLowerCase()
    .replace(/^01-(?=[0-9a-f]{2}-)/, '')
    .replaceAll('-', ':');
  return macs.includes(mac) ? mac : null;
};

/** An address that a BMC can have: a BMC without one says 0.0.0.0 or ::. */
const bmcAddressOf = (...values: readonly unknown[]): string | null =>
  values.filter((value) => typeof value === 'string').find((text) => isIpAddress(text) && !/^[0.:]*$/.test(text)) ??
  null;

/** MAC addresses that stand for one card; all zeros and those of groups stand for none. */
const isOfCard = (mac: string): boolean =>
  isMac(mac) && mac !== '00:00:00:00:00:00' && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0;

/**
 * What an inventory says of its machine.
 * @param macs of its cards, in lower case @returns undefined where none of them can be one
 */
export const claimsOf = (inventory: Document, macs: readonly string[]): DiscoveredClaims | undefined => {
  const cards = [...new Set(macs.filter(isOfCard))].sort();
  if (cards.length === 0) return undefined;
  const made = asDocument(inventory.system_vendor);
  return {
    macs: cards,
    boot_mac: bootMacOf(asDocument(inventory.boot).pxe_interface, cards),
    arch: claimOf(asDocument(inventory.cpu).architecture),
    bmc_address: bmcAddressOf(inventory.bmc_address, inventory.bmc_v6address),
    vendor: claimOf(made.manufacturer),
    product: claimOf(made.product_name),
    serial: claimOf(made.serial_number),
  };
};
