/** What an operator says of a network that machines boot on. */
export type DhcpOptions = {
  readonly interface: string;
  /** First and last address that is given out. */
  readonly range?: readonly [string, string];
  /** Address of a network whose own DHCP server gives out addresses; dnsmasq then says only what is booted. */
  readonly proxy?: string;
  /**
   * Machines that no node stands for are answered too. Beside `range`: the addresses that are given to them, which are others than
   * those of nodes, so that they take none of these; beside `proxy` it is true.
   */
  readonly discovery?: readonly [string, string] | true;
  readonly netmask: string;
  readonly lease: string;
  /** Of the network, for machines; none when absent. */
  readonly router?: string;
  /** The boot service as machines reach it: http and a host, perhaps a port. */
  readonly url: string;
  /** Whether machines whose firmware checks signatures get the signed shim and GRUB. */
  readonly secureBoot: boolean;
  /** Folder that the packages of the boot loaders are unpacked in; the system's root when absent. */
  readonly loaders?: string;
};
