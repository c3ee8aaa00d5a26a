/** Hardware types: their interfaces, and their keys of driver_info. */
import type { Equipment, InterfaceName, StepDriver } from './step-types';

export type PropertyRow = {
  readonly required: boolean;
  readonly type: 'string' | 'boolean' | 'integer' | 'boolean or string';
  /** Kept in the secrets table, never shown. */
  readonly secret?: true;
  /** An image URL. With a password in it, the whole URL is sealed. */
  readonly url?: true;
  readonly oneOf?: readonly string[];
  readonly says: string;
};

export type DriverRow = {
  /** The first implementation is the default. */
  readonly interfaces: Readonly<Record<InterfaceName, readonly string[]>>;
  readonly properties: Readonly<Record<string, PropertyRow>>;
  /** Key of the BMC's address. Workers connect only there. */
  readonly addressKey: string | null;
  /** The driver that does its work: itself, or the one with the protocol of a vendor's BMC. */
  readonly speaks: StepDriver;
  /** Its own names for keys of the spoken driver. */
  readonly keys?: Readonly<Record<string, string>>;
};

/** In Ironic's order of preference. */
const networkBoot = ['ipxe', 'pxe', 'http-ipxe', 'http'] as const;

// For interfaces that insert the ramdisk as virtual media.
const ramdiskProperties = {
  deploy_iso: {
    required: false,
    type: 'string',
    url: true,
    says: 'URL of the ramdisk’s boot image, reachable by the BMC, whose kernel arguments name this API as ipa-api-url; or ramdisk:<name>, a ramdisk record, which the boot service serves for each boot, as an image or by the network. TEMPER_DEFAULT_RAMDISK when absent.',
  },
  rescue_iso: { required: false, type: 'string', url: true, says: 'The same for rescue; deploy_iso when absent.' },
} as const satisfies Record<string, PropertyRow>;

// The node's place among other nodes.
const placeProperties = {
  has_dedicated_power_supply: {
    required: false,
    type: 'boolean or string',
    says: 'For a child node: true if its power does not depend on that of its parent; default false.',
  },
} as const satisfies Record<string, PropertyRow>;

// Keys of Ironic's former ilo hardware types, which speak Redfish (iLO 4 from firmware 2.30).
const iloKeys = {
  ilo_address: 'redfish_address',
  ilo_username: 'redfish_username',
  ilo_password: 'redfish_password',
  ilo_verify_ca: 'redfish_verify_ca',
} as const;

const redfishProperties = {
  redfish_address: {
    required: true,
    type: 'string',
    says: 'URL of the BMC, such as https://bmc-17.example.org; the scheme defaults to https and a path is kept as prefix.',
  },
  redfish_system_id: {
    required: false,
    type: 'string',
    says: 'Path of the system, such as /redfish/v1/Systems/1; needed only when the BMC has several.',
  },
  redfish_system_uuid: {
    required: false,
    type: 'string',
    says: 'UUID that the BMC must show for the system; nothing is done if it shows another one. Not checked when absent.',
  },
  redfish_username: { required: false, type: 'string', says: 'Account on the BMC.' },
  redfish_password: {
    required: false,
    type: 'string',
    secret: true,
    says: 'Its password; stored encrypted, never shown.',
  },
  redfish_verify_ca: {
    required: false,
    type: 'boolean or string',
    says: 'false to accept any certificate, or the path of a CA file on the workers; default true.',
  },
  redfish_auth_type: {
    required: false,
    type: 'string',
    oneOf: ['auto', 'basic', 'session'],
    says: 'How to log in: a session, basic, or auto (session if offered); default auto.',
  },
} as const satisfies Record<string, PropertyRow>;

const iloProperties = {
  ilo_address: { required: true, type: 'string', says: 'Host name or IP address of the iLO.' },
  client_port: { required: false, type: 'integer', says: 'Its HTTPS port; default 443.' },
  ilo_username: redfishProperties.redfish_username,
  ilo_password: redfishProperties.redfish_password,
  ilo_verify_ca: redfishProperties.redfish_verify_ca,
} as const satisfies Record<string, PropertyRow>;

/** @param own the name of its interfaces */
const iloRow = (own: 'ilo' | 'ilo5', raid: readonly string[]) =>
  ({
    addressKey: 'ilo_address',
    speaks: 'redfish',
    keys: iloKeys,
    interfaces: {
      bios: ['ilo', 'no-bios'],
      boot: ['ilo-virtual-media', 'ilo-ipxe', 'ilo-pxe'],
      console: ['no-console'],
      deploy: ['direct', 'ramdisk', 'custom-agent', 'noop'],
      firmware: ['redfish', 'no-firmware'],
      inspect: ['ilo', 'redfish', 'agent', 'no-inspect'],
      management: [own],
      network: ['noop'],
      power: ['ilo'],
      raid,
      rescue: ['agent', 'no-rescue'],
      storage: ['noop'],
      vendor: ['ilo', 'no-vendor'],
    },
    properties: { ...iloProperties, ...ramdiskProperties, ...placeProperties },
  }) as const satisfies DriverRow;

export const drivers = {
  redfish: {
    addressKey: 'redfish_address',
    speaks: 'redfish',
    interfaces: {
      bios: ['redfish', 'no-bios'],
      boot: ['redfish-virtual-media', 'redfish-https', ...networkBoot],
      console: ['no-console'],
      deploy: ['direct', 'ramdisk', 'custom-agent', 'noop'],
      firmware: ['redfish', 'no-firmware'],
      inspect: ['redfish', 'agent', 'no-inspect'],
      management: ['redfish'],
      network: ['noop'],
      power: ['redfish'],
      raid: ['redfish', 'agent', 'no-raid'],
      rescue: ['agent', 'no-rescue'],
      storage: ['noop'],
      vendor: ['redfish', 'no-vendor'],
    },
    properties: {
      ...redfishProperties,
      ...ramdiskProperties,
      ...placeProperties,
    },
  },
  ipmi: {
    addressKey: 'ipmi_address',
    speaks: 'ipmi',
    interfaces: {
      bios: ['no-bios'],
      boot: networkBoot,
      console: ['no-console', 'ipmitool-socat'],
      deploy: ['direct', 'custom-agent', 'noop'],
      firmware: ['no-firmware'],
      inspect: ['agent', 'no-inspect'],
      management: ['ipmitool'],
      network: ['noop'],
      power: ['ipmitool'],
      raid: ['agent', 'no-raid'],
      rescue: ['agent', 'no-rescue'],
      storage: ['noop'],
      vendor: ['ipmitool', 'no-vendor'],
    },
    properties: {
      ipmi_address: { required: true, type: 'string', says: 'Address or host name of the BMC.' },
      ipmi_port: { required: false, type: 'integer', says: 'Its UDP port; default 623.' },
      ipmi_username: { required: false, type: 'string', says: 'Account on the BMC, at most 16 bytes.' },
      ipmi_password: {
        required: false,
        type: 'string',
        secret: true,
        says: 'Its password, at most 20 bytes; stored encrypted, never shown.',
      },
      ipmi_hex_kg_key: {
        required: false,
        type: 'string',
        secret: true,
        says: 'The BMC’s own key (Kg), an even number of hexadecimal digits, at most 40; stored encrypted, never shown.',
      },
      ipmi_priv_level: {
        required: false,
        type: 'string',
        oneOf: ['ADMINISTRATOR', 'OPERATOR', 'USER', 'CALLBACK'],
        says: 'Privilege level of the session; default ADMINISTRATOR.',
      },
      ipmi_protocol_version: {
        required: false,
        type: 'string',
        oneOf: ['2.0', '1.5'],
        says: 'Version of IPMI that the BMC speaks; default 2.0.',
      },
      ipmi_cipher_suite: {
        required: false,
        type: 'integer',
        says: 'Cipher suite of the session, 17 or 3; the BMC’s best when absent.',
      },
      ipmi_bridging: {
        required: false,
        type: 'string',
        oneOf: ['no', 'single', 'dual'],
        says: 'Whether the BMC is reached through another one, or through two; default no.',
      },
      ipmi_transit_channel: {
        required: false,
        type: 'string',
        says: 'Channel to the BMC in between; for dual bridging.',
      },
      ipmi_transit_address: { required: false, type: 'string', says: 'Its address; for dual bridging.' },
      ipmi_target_channel: { required: false, type: 'string', says: 'Channel to the node’s BMC; for bridging.' },
      ipmi_target_address: { required: false, type: 'string', says: 'Its address; for bridging.' },
      ipmi_local_address: { required: false, type: 'string', says: 'Address that requests come from; for bridging.' },
      ipmi_force_boot_device: {
        required: false,
        type: 'boolean',
        says: 'true if the BMC forgets a lasting boot device: it is then set for the next boot only; default false.',
      },
      ipmi_disable_boot_timeout: {
        required: false,
        type: 'boolean',
        says: 'false if the BMC cannot keep a boot device for longer than a minute; default true.',
      },
      ipmi_terminal_port: {
        required: false,
        type: 'integer',
        says: 'Accepted and without effect: a console is read by a ticket, and has no own port.',
      },
      ...placeProperties,
    },
  },
  'fake-hardware': {
    addressKey: null,
    speaks: 'fake-hardware',
    interfaces: {
      bios: ['fake', 'no-bios'],
      boot: ['fake', ...networkBoot],
      console: ['fake', 'no-console'],
      deploy: ['fake', 'direct', 'custom-agent', 'noop'],
      firmware: ['fake', 'no-firmware'],
      inspect: ['fake', 'agent', 'no-inspect'],
      management: ['fake', 'noop'],
      network: ['noop'],
      power: ['fake'],
      raid: ['fake', 'agent', 'no-raid'],
      rescue: ['fake', 'agent', 'no-rescue'],
      storage: ['fake', 'noop'],
      vendor: ['fake', 'no-vendor'],
    },
    properties: {
      fake_delay_ms: {
        required: false,
        type: 'integer',
        says: 'How long each act pretends to take, in milliseconds; default 0.',
      },
      fake_fails: {
        required: false,
        type: 'string',
        says: 'Name of an act that always fails, to see how a failure looks.',
      },
      ...placeProperties,
    },
  },
  idrac: {
    addressKey: 'redfish_address',
    speaks: 'redfish',
    interfaces: {
      bios: ['idrac-redfish', 'no-bios'],
      boot: ['idrac-redfish-virtual-media', ...networkBoot],
      console: ['no-console'],
      deploy: ['direct', 'ramdisk', 'custom-agent', 'noop'],
      firmware: ['redfish', 'no-firmware'],
      inspect: ['idrac-redfish', 'redfish', 'agent', 'no-inspect'],
      management: ['idrac-redfish'],
      network: ['noop'],
      power: ['idrac-redfish'],
      raid: ['idrac-redfish', 'redfish', 'agent', 'no-raid'],
      rescue: ['agent', 'no-rescue'],
      storage: ['noop'],
      vendor: ['idrac-redfish', 'redfish', 'no-vendor'],
    },
    properties: { ...redfishProperties, ...ramdiskProperties, ...placeProperties },
  },
  ilo: iloRow('ilo', ['no-raid', 'agent']),
  ilo5: iloRow('ilo5', ['ilo5', 'agent', 'no-raid']),
} as const satisfies Record<string, DriverRow>;

export type DriverName = keyof typeof drivers;

export const driverNames = Object.keys(drivers) as DriverName[];

export const isDriver = (text: string): text is DriverName => Object.hasOwn(drivers, text);

/** Has all properties in their general types. */
export const driverRow = (driver: DriverName): DriverRow => drivers[driver];

export const speaksOf = (driver: string): StepDriver | undefined =>
  isDriver(driver) ? drivers[driver].speaks : undefined;

/** `ilo_verify_ca` for `redfish_verify_ca`. */
export const ownKey = (driver: DriverName, key: string): string =>
  Object.entries(driverRow(driver).keys ?? {}).find(([, meant]) => meant === key)?.[0] ?? key;

/** The node's choice, or the driver's default; `no-<name>` without a driver. */
export const interfaceOf = (node: Equipment, name: InterfaceName): string =>
  node[`${name}_interface`] ??
  (isDriver(node.driver) ? driverRow(node.driver).interfaces[name][0] : undefined) ??
  `no-${name}`;

/** Only keys with a different name in the spoken driver. */
export const withDriverKeys = (driver: DriverName, info: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(driverRow(driver).keys ?? {}).map(([own, key]) => [key, info[own]]));

/** Vendors' names of implementations. */
const sameAs: ReadonlyMap<string, string> = new Map([
  ['idrac-redfish', 'redfish'],
  ['ilo', 'redfish'],
  ['ilo5', 'redfish'],
  ['idrac-redfish-virtual-media', 'redfish-virtual-media'],
  ['ilo-virtual-media', 'redfish-virtual-media'],
  ['ilo-ipxe', 'ipxe'],
  ['ilo-pxe', 'pxe'],
]);

/** `redfish` for `idrac-redfish`. */
export const workerOf = (node: Equipment, name: InterfaceName): string => {
  const implementation = interfaceOf(node, name);
  return sameAs.get(implementation) ?? implementation;
};

type BootRow = {
  /** A virtual drive, the firmware's HTTP client, a boot server, nowhere. */
  readonly from: 'media' | 'url' | 'network' | 'nowhere';
  readonly device: 'cdrom' | 'uefihttp' | 'pxe' | null;
};

/** Boot from the network needs DHCP, and the boot service or an operator's server. */
const bootInterfaces: Readonly<Record<string, BootRow>> = {
  'redfish-virtual-media': { from: 'media', device: 'cdrom' },
  'redfish-https': { from: 'url', device: 'uefihttp' },
  ipxe: { from: 'network', device: 'pxe' },
  pxe: { from: 'network', device: 'pxe' },
  'http-ipxe': { from: 'network', device: 'uefihttp' },
  http: { from: 'network', device: 'uefihttp' },
  fake: { from: 'nowhere', device: null },
};

/** IPMI cannot request UEFI HTTP boot: the firmware then chooses among its network boots. */
export const bootRow = (node: Equipment): BootRow => {
  const row = bootInterfaces[workerOf(node, 'boot')] ?? bootInterfaces.pxe!;
  return row.device === 'uefihttp' && speaksOf(node.driver) === 'ipmi' ? { ...row, device: 'pxe' } : row;
};

type DeployRow = { readonly ramdisk: boolean; readonly says: string };

/** `ramdisk`: it boots the ramdisk, for cleaning and servicing too. */
const deployInterfaces: Readonly<Record<string, DeployRow>> = {
  direct: { ramdisk: true, says: 'The ramdisk writes the image to the disk.' },
  'custom-agent': {
    ramdisk: true,
    says: 'The ramdisk runs the deployment’s own steps; nothing writes an image automatically.',
  },
  ramdisk: { ramdisk: true, says: 'The node runs from an image that is booted every time.' },
  noop: { ramdisk: false, says: 'Deploying powers the node on; what it boots is not ours.' },
  fake: { ramdisk: false, says: 'Pretends.' },
};

export const bootsRamdisk = (node: Equipment): boolean =>
  deployInterfaces[interfaceOf(node, 'deploy')]?.ramdisk ?? false;
