/** Hosts as Metal3's operator enrols them, one row for each scheme of its BMC URLs: driver, interfaces, driver_info. */

export type Metal3Host = {
  readonly scheme: string;
  readonly driver: string;
  readonly driver_info: Readonly<Record<string, unknown>>;
  /** What it says of interfaces; it leaves the others to the driver. */
  readonly interfaces: Readonly<Record<string, string>>;
};

// metal3-io/baremetal-operator:pkg/hardwareutils/bmc (access_test.go there has the same rows), with addresses of the loopback
// network, where the tests allow BMCs. The operator gave up ilo4 and ilo5; hosts that were made with them are still enrolled so.
const account = { username: 'admin', password: 'calvin' };
const redfishAt = (address: string, path = '/redfish/v1/Systems/1') => ({
  redfish_address: address,
  redfish_system_id: path,
  redfish_username: account.username,
  redfish_password: account.password,
  redfish_verify_ca: false,
});
const ipmiAt = (ipmi_port: string) => ({
  ipmi_address: '127.0.0.10',
  ipmi_port,
  ipmi_username: account.username,
  ipmi_password: account.password,
  ipmi_priv_level: 'ADMINISTRATOR',
  ipmi_verify_ca: false,
});
const iloAt = (more: Readonly<Record<string, unknown>> = {}) => ({
  ilo_address: '127.0.0.12',
  ilo_username: account.username,
  ilo_password: account.password,
  ilo_verify_ca: false,
  ...more,
});

const byRedfish = { firmware_interface: 'redfish', inspect_interface: 'redfish', raid_interface: 'redfish' };
const byIdrac = {
  bios_interface: 'idrac-redfish',
  firmware_interface: 'redfish',
  inspect_interface: 'redfish',
  management_interface: 'idrac-redfish',
  power_interface: 'idrac-redfish',
  raid_interface: 'idrac-redfish',
  vendor_interface: 'idrac-redfish',
};

const redfishHost = (scheme: string, boot_interface: string, address = 'https://127.0.0.11'): Metal3Host => ({
  scheme,
  driver: 'redfish',
  driver_info: redfishAt(address),
  interfaces: { boot_interface, ...byRedfish },
});
const idracHost = (scheme: string, boot_interface: string): Metal3Host => ({
  scheme,
  driver: 'idrac',
  driver_info: redfishAt('https://127.0.0.11', '/redfish/v1/Systems/System.Embedded.1'),
  interfaces: { boot_interface, ...byIdrac },
});

export const metal3Hosts: readonly Metal3Host[] = [
  {
    scheme: 'ipmi',
    driver: 'ipmi',
    driver_info: ipmiAt('623'),
    interfaces: { boot_interface: 'ipxe', raid_interface: 'no-raid' },
  },
  {
    scheme: 'libvirt',
    driver: 'ipmi',
    driver_info: ipmiAt('6233'),
    interfaces: { boot_interface: 'ipxe', raid_interface: 'no-raid' },
  },
  redfishHost('redfish', 'ipxe'),
  redfishHost('redfish+http', 'ipxe', 'http://127.0.0.11:8000'),
  redfishHost('redfish+https', 'ipxe'),
  redfishHost('ilo5-redfish', 'ipxe'),
  redfishHost('redfish-virtualmedia', 'redfish-virtual-media'),
  redfishHost('redfish-virtualmedia+http', 'redfish-virtual-media', 'http://127.0.0.11:8000'),
  redfishHost('ilo5-virtualmedia', 'redfish-virtual-media'),
  redfishHost('redfish-uefihttp', 'redfish-https'),
  idracHost('idrac-redfish', 'ipxe'),
  idracHost('idrac-virtualmedia', 'idrac-redfish-virtual-media'),
  {
    scheme: 'ilo4',
    driver: 'ilo',
    driver_info: iloAt({ client_port: '8443' }),
    interfaces: { boot_interface: 'ilo-ipxe', raid_interface: 'no-raid' },
  },
  {
    scheme: 'ilo4-virtualmedia',
    driver: 'ilo',
    driver_info: iloAt(),
    interfaces: { boot_interface: 'ilo-virtual-media', raid_interface: 'no-raid' },
  },
  {
    scheme: 'ilo5',
    driver: 'ilo5',
    driver_info: iloAt(),
    interfaces: { boot_interface: 'ilo-ipxe', raid_interface: 'ilo5' },
  },
];
