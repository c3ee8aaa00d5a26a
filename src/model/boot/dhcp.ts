/** An operator's description of a network on which machines boot. */
export type DhcpOptions = {
  readonly interface: string;
  /** First and last address to lease. */
  readonly range?: readonly [string, string];
  /** Address of a network with its own DHCP server; dnsmasq then sends only boot information. */
  readonly proxy?: string;
  /**
   * Also answers machines without a node. Beside `range`: the addresses for them, separate from those of nodes, so that they cannot
   * exhaust these. Beside `proxy`: true.
   */
  readonly discovery?: readonly [string, string] | true;
  readonly netmask: string;
  readonly lease: string;
  /** Router of the network; none if absent. */
  readonly router?: string;
  /** The boot service as machines reach it: http and a host, perhaps a port. */
  readonly url: string;
  /** If true, machines with secure boot get the signed shim and GRUB. */
  readonly secureBoot: boolean;
  /** Folder with the unpacked packages of the boot loaders; the system's root if absent. */
  readonly loaders?: string;
};
