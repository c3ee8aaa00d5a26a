/** Discovered machines without a node: reported data within limits. */
import { isIpAddress } from '../access/bmc-addresses';
import { asDocument, type Document } from '../document';
import { isMac } from '../ids';
import { textOf } from '../texts';

/** Machines need no login to be recorded. */
export const discoveryLimits = {
  records: 5_000,
  /** Records from one address. */
  ofSender: 16,
  /** Records that share one MAC address. */
  sharing: 8,
  bytes: 256 * 1024,
} as const;

export const discoveredStates = ['waiting', 'refused'] as const;
export type DiscoveredState = (typeof discoveredStates)[number];

export type DiscoveredClaims = {
  /** Lower case, sorted, without duplicates. */
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

/** BOOTIF has a hardware type before the address, and dashes. */
const bootMacOf = (value: unknown, macs: readonly string[]): string | null => {
  const mac = textOf(value)
    .toLowerCase()
    .replace(/^01-(?=[0-9a-f]{2}-)/, '')
    .replaceAll('-', ':');
  return macs.includes(mac) ? mac : null;
};

/** A BMC without an address reports 0.0.0.0 or ::. */
const bmcAddressOf = (...values: readonly unknown[]): string | null =>
  values.filter((value) => typeof value === 'string').find((text) => isIpAddress(text) && !/^[0.:]*$/.test(text)) ??
  null;

/** False for zeros and group addresses. */
const isOfCard = (mac: string): boolean =>
  isMac(mac) && mac !== '00:00:00:00:00:00' && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0;

/** @param macs in lower case @returns undefined if none is valid */
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
