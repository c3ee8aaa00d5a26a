/** Hardware types: which interfaces each offers, and what its driver_info must hold. */
import type { StepDriver } from './steps';

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

export const drivers = {
  redfish: {
    addressKey: 'redfish_address',
    interfaces: {
      bios: ['redfish', 'no-bios'],
      boot: ['redfish-virtual-media'],
      console: ['no-console'],
      deploy: ['direct'],
      firmware: ['no-firmware'],
      inspect: ['no-inspect'],
      management: ['redfish'],
      network: ['noop'],
      power: ['redfish'],
      raid: ['no-raid'],
      rescue: ['no-rescue'],
      storage: ['noop'],
      vendor: ['no-vendor'],
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
    },
  },
  'fake-hardware': {
    addressKey: null,
    interfaces: {
      bios: ['fake', 'no-bios'],
      boot: ['fake'],
      console: ['fake', 'no-console'],
      deploy: ['fake'],
      firmware: ['fake', 'no-firmware'],
      inspect: ['fake', 'no-inspect'],
      management: ['fake', 'noop'],
      network: ['noop'],
      power: ['fake'],
      raid: ['fake', 'no-raid'],
      rescue: ['fake', 'no-rescue'],
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
    },
  },
} as const satisfies Record<StepDriver, DriverRow>;

export type DriverName = keyof typeof drivers;

/** Whether a text is a driver that this release has. */
export const isDriver = (text: string): text is DriverName => Object.hasOwn(drivers, text);

/** A driver's row with every property in its general type. */
export const driverRow = (driver: DriverName): DriverRow => drivers[driver];
