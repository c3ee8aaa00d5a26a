/** Methods of `vendor_passthru`, and the acts that do them. */
import type { ActName } from './acts';
import { workerOf } from './drivers';
import type { Equipment } from './step-types';
export type VendorHttpMethod = 'GET' | 'POST' | 'DELETE';

export type VendorMethodRow = {
  readonly http_methods: readonly VendorHttpMethod[];
  /** The answer does not wait for its end. */
  readonly async: boolean;
  readonly act: ActName;
  readonly description: string;
};

export type VendorMethods = Readonly<Record<string, VendorMethodRow>>;

const subscription = 'the id that the BMC gave the subscription';

// openstack/ironic:ironic/drivers/modules/redfish/vendor.py. Clients make event subscriptions with them.
const redfishMethods = {
  create_subscription: {
    http_methods: ['POST'],
    async: false,
    act: 'create_subscription',
    description:
      'Subscribes a receiver to events of the BMC. Destination: its URL, required; Context, Protocol, EventTypes, HttpHeaders optional.',
  },
  delete_subscription: {
    http_methods: ['DELETE'],
    async: false,
    act: 'delete_subscription',
    description: `Ends a subscription to events. id: ${subscription}, required.`,
  },
  get_subscription: {
    http_methods: ['GET'],
    async: false,
    act: 'read_subscriptions',
    description: `Shows a subscription to events. id: ${subscription}, required.`,
  },
  get_all_subscriptions: {
    http_methods: ['GET'],
    async: false,
    act: 'read_subscriptions',
    description: 'Lists the subscriptions to events.',
  },
  eject_vmedia: {
    http_methods: ['POST'],
    async: true,
    act: 'eject_media',
    description: 'Empties virtual drives. boot_device: cd, dvd, usb or floppy; all of them when absent.',
  },
} as const satisfies VendorMethods;

export type VendorMethod = keyof typeof redfishMethods;

/** By implementation of the vendor interface. Raw bytes are a step instead, which has a policy rule. */
const methodsOf: Readonly<Record<string, VendorMethods>> = { redfish: redfishMethods };

export const vendorMethodsOf = (node: Equipment): VendorMethods => methodsOf[workerOf(node, 'vendor')] ?? {};

export const driverMethods: VendorMethods = {};

/** Kind of drive for each name in `eject_vmedia`. */
export const ejectedDrives = { cd: 'cdrom', dvd: 'cdrom', usb: 'disk', floppy: 'floppy' } as const;

export const shownMethods = (methods: VendorMethods) =>
  Object.fromEntries(
    Object.entries(methods).map(([name, { http_methods, async, description }]) => [
      name,
      {
        async,
        attach: false,
        description,
        http_methods,
        require_exclusive_lock: !http_methods.includes('GET'),
      },
    ]),
  );
