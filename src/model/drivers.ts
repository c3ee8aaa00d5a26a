/** Hardware types: which interfaces each offers, and what its driver_info must hold. */
import type { Equipment, StepDriver } from './steps';

export const interfaceNames = [
  'bios',
  'boot',
  'console',
  'deploy',
  'firmware',
  'inspect',
  'management',
  'network',
  'power',
  'raid',
  'rescue',
  'storage',
  'vendor',
] as const;
export type InterfaceName = (typeof interfaceNames)[number];

export type PropertyRow = {
  readonly required: boolean;
  readonly type: 'string' | 'boolean' | 'integer' | 'boolean or string';
  /** Kept in the secrets table, never shown. */
  readonly secret?: true;
  /** A URL of an image: one with a password in it is kept sealed as a whole. */
  readonly url?: true;
  readonly oneOf?: readonly string[];
  readonly says: string;
};

export type DriverRow = {
  /** Enabled implementations per interface; the first is the default. */
  readonly interfaces: Readonly<Record<InterfaceName, readonly string[]>>;
  readonly properties: Readonly<Record<string, PropertyRow>>;
  /** The driver_info key that addresses the BMC; workers connect nowhere else. */
  readonly addressKey: string | null;
};

// Where the ramdisk comes from, for interfaces that insert it as virtual media.
const ramdiskProperties = {
  deploy_iso: {
    required: false,
    type: 'string',
    url: true,
    says: 'URL of the ramdisk’s boot image, reachable by the BMC; its kernel arguments name this API as ipa-api-url.',
  },
  rescue_iso: { required: false, type: 'string', url: true, says: 'The same for rescue; deploy_iso when absent.' },
} as const satisfies Record<string, PropertyRow>;

// Of any hardware: what a node's place among other nodes means for it.
const placeProperties = {
  has_dedicated_power_supply: {
    required: false,
    type: 'boolean or string',
    says: 'For a child node: true where its power does not depend on that of its parent; default false.',
  },
} as const satisfies Record<string, PropertyRow>;

export const drivers = {
  redfish: {
    addressKey: 'redfish_address',
    interfaces: {
      bios: ['redfish', 'no-bios'],
      boot: ['redfish-virtual-media', 'pxe'],
      console: ['no-console'],
      deploy: ['direct', 'ramdisk', 'noop'],
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
        says: 'UUID that the BMC must show for the system; nothing is done where it shows another one. Not checked when absent.',
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
        says: 'How to log in: a session, basic, or auto (session where offered); default auto.',
      },
      ...ramdiskProperties,
      ...placeProperties,
    },
  },
  ipmi: {
    addressKey: 'ipmi_address',
    interfaces: {
      bios: ['no-bios'],
      boot: ['pxe'],
      console: ['no-console'],
      deploy: ['direct', 'noop'],
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
        says: 'Privilege that is asked for; default ADMINISTRATOR.',
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
        says: 'Whether the BMC stands behind another, or behind two; default no.',
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
        says: 'true where the BMC forgets a lasting boot device: it is then set for the next boot only; default false.',
      },
      ipmi_disable_boot_timeout: {
        required: false,
        type: 'boolean',
        says: 'false where the BMC cannot keep a boot device for longer than a minute; default true.',
      },
      ipmi_terminal_port: {
        required: false,
        type: 'integer',
        says: 'Accepted for consoles, which are not offered yet.',
      },
      ...placeProperties,
    },
  },
  'fake-hardware': {
    addressKey: null,
    interfaces: {
      bios: ['fake', 'no-bios'],
      boot: ['fake', 'pxe'],
      console: ['fake', 'no-console'],
      deploy: ['fake', 'direct', 'noop'],
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
} as const satisfies Record<StepDriver, DriverRow>;

export type DriverName = keyof typeof drivers;

/** Whether a text is a driver that this release has. */
export const isDriver = (text: string): text is DriverName => Object.hasOwn(drivers, text);

/** A driver's row with every property in its general type. */
export const driverRow = (driver: DriverName): DriverRow => drivers[driver];

/** The implementation of an interface that a node uses: its own choice, or the first of its driver; `no-<name>` without a driver. */
export const interfaceOf = (node: Equipment, name: InterfaceName): string =>
  node[`${name}_interface`] ??
  (isDriver(node.driver) ? driverRow(node.driver).interfaces[name][0] : undefined) ??
  `no-${name}`;

type DeployRow = { readonly ramdisk: boolean; readonly says: string };

/** Deploy interfaces: whether they boot the ramdisk, for cleaning and servicing too. */
export const deployInterfaces: Readonly<Record<string, DeployRow>> = {
  direct: { ramdisk: true, says: 'The ramdisk writes the image to the disk.' },
  ramdisk: { ramdisk: true, says: 'The node runs from an image that is booted every time.' },
  noop: { ramdisk: false, says: 'Deploying powers the node on; what it boots is not ours.' },
  fake: { ramdisk: false, says: 'Pretends.' },
};

/** Whether the node runs the ramdisk for its steps. */
export const bootsRamdisk = (node: Equipment): boolean =>
  deployInterfaces[interfaceOf(node, 'deploy')]?.ramdisk ?? false;
