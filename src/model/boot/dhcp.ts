/** An operator's description of a boot network. */
export type DhcpOptions = {
  readonly interface: string;
  readonly range?: readonly [string, string];
  /** Network with its own DHCP server; dnsmasq then sends only boot information. */
  readonly proxy?: string;
  /**
   * Also answers machines without a node. Beside `range`: separate addresses, so that they cannot exhaust those of nodes. Beside
   * `proxy`: true.
   */
  readonly discovery?: readonly [string, string] | true;
  readonly netmask: string;
  readonly lease: string;
  readonly router?: string;
  /** http and a host, perhaps a port, as machines reach it. */
  readonly url: string;
  /** Signed shim and GRUB for machines with secure boot. */
  readonly secureBoot: boolean;
  /** Folder with unpacked boot loaders; the system's root if absent. */
  readonly loaders?: string;
};
