/** Plan parts that boot a node from a ramdisk, an image or its disk, and remove the ramdisk. */
import { ramdiskNamed, ramdiskReference } from '../boot/ramdisks';
import { raise } from '../errors';
import { bootRow, bootsRamdisk } from './drivers';
import { type PlannedNode, type PlanRow, planned } from './plan-parts';
import type { Awaited, Equipment, PlannedStep } from './step-types';
import type { ActName } from './steps';

export const byMedia = (node: PlannedNode): boolean => bootRow(node).from === 'media';

/** Throws DriverInfoInvalid if no image is on record. */
const imageOf = (node: PlannedNode, keys: readonly string[]): unknown => {
  const found = keys.map((key) => node.driver_info[key]).find((value) => value !== undefined && value !== null);
  if (found !== undefined) return found;
  if (node.default_ramdisk !== undefined) return ramdiskReference(node.default_ramdisk);
  return raise('DriverInfoInvalid', {
    node: node.name ?? node.uuid,
    field: keys.at(-1),
    reason:
      'is missing: the ramdisk is booted from it. Set it, or choose a boot_interface that boots from the network (ipxe, pxe), or do without the ramdisk',
  });
};

const fromMedia = (image_url: unknown): Pick<PlanRow, 'acts' | 'args'> => ({
  acts: ['power_off', 'insert_media', 'set_boot_device', 'power_on'],
  args: { image_url, device_type: 'cdrom', boot_device: 'cdrom', persistent: false },
});

/** One boot; the firmware fetches `image_url`. */
const fromDevice = (boot_device: string | null, image_url?: unknown): Pick<PlanRow, 'acts' | 'args'> => ({
  acts: ['power_off', 'set_boot_device', 'power_on'],
  args: { boot_device, persistent: false, ...(image_url !== undefined && { image_url }) },
});

/** The ramdisk record for network boot. Undefined for a boot from an operator's server, or without a record. */
const loadedByNetwork = (
  { driver_info, default_ramdisk }: PlannedNode,
  keys: readonly string[],
): string | undefined => {
  const named = keys.map((key) => driver_info[key]).find((value) => value !== undefined && value !== null);
  if (named !== undefined) return ramdiskNamed(named) === undefined ? undefined : String(named);
  const ofOperator = (driver_info.deploy_kernel ?? driver_info.deploy_ramdisk ?? null) !== null;
  return ofOperator || default_ramdisk === undefined ? undefined : ramdiskReference(default_ramdisk);
};

/** A record, the installation's default, or the operator's own files; null for none. */
export const ramdiskSourceOf = (
  node: Pick<PlannedNode, 'driver_info'> & Equipment,
): { readonly record: string } | 'installation' | 'operator' | null => {
  const { from } = bootRow(node);
  if (!bootsRamdisk(node) || from === 'nowhere') return null;
  const { deploy_iso, deploy_kernel, deploy_ramdisk } = node.driver_info;
  const record = ramdiskNamed(deploy_iso);
  if (record !== undefined) return { record };
  const files = from === 'network' ? [deploy_iso, deploy_kernel, deploy_ramdisk] : [deploy_iso];
  return files.some((file) => file !== undefined && file !== null) ? 'operator' : 'installation';
};

/** The boot service sends a ramdisk record, or the operator's server its own files. */
const fromNetwork = (boot_device: string | null, network_image?: string): Pick<PlanRow, 'acts' | 'args'> => {
  const { acts, args } = fromDevice(boot_device);
  return { acts, args: { ...args, ...(network_image !== undefined && { network_image }) } };
};

export const fromImage = (node: PlannedNode, image_url: () => unknown): Pick<PlanRow, 'acts' | 'args'> => {
  const { from, device } = bootRow(node);
  switch (from) {
    case 'media':
      return fromMedia(image_url());
    case 'url':
      return fromDevice(device, image_url());
    case 'network':
      return fromDevice(device);
    case 'nowhere':
      return { acts: ['power_off', 'power_on'] };
  }
};

export const toRamdisk = (
  node: PlannedNode,
  purpose: 'deploy' | 'rescue' = 'deploy',
): Pick<PlanRow, 'acts' | 'args'> => {
  const keys = purpose === 'rescue' ? ['rescue_iso', 'deploy_iso'] : ['deploy_iso'];
  const { from, device } = bootRow(node);
  return from === 'network'
    ? fromNetwork(device, loadedByNetwork(node, keys))
    : fromImage(node, () => imageOf(node, keys));
};

export const eject = (node: PlannedNode): readonly ActName[] => (byMedia(node) ? ['eject_media'] : []);
export const toDisk: Readonly<Record<string, unknown>> = {
  device_type: 'cdrom',
  boot_device: 'disk',
  persistent: true,
};
export const diskActs = (node: PlannedNode): readonly ActName[] =>
  bootRow(node).from === 'nowhere' ? [] : [...eject(node), 'set_boot_device'];

export const bootRamdisk = (node: PlannedNode, awaits: Awaited = 'heartbeat'): PlannedStep =>
  planned({ interface: 'deploy', step: 'boot_ramdisk', ...toRamdisk(node), awaits, hidden: true });
export const listSteps = planned({
  interface: 'deploy',
  step: 'list_steps',
  acts: ['agent_steps'],
  abortable: true,
  hidden: true,
});
export const removeRamdisk = (node: PlannedNode, step = 'remove_ramdisk'): PlannedStep =>
  planned({
    interface: 'deploy',
    step,
    acts: ['power_off', ...eject(node)],
    args: { device_type: 'cdrom' },
    hidden: true,
  });
/** A separate step, so that an unreachable power state cannot keep the disc in the drive. */
export const emptied = (node: PlannedNode): readonly PlannedStep[] =>
  byMedia(node)
    ? [
        planned({
          interface: 'deploy',
          step: 'eject_media',
          acts: ['eject_media'],
          args: { device_type: 'cdrom' },
          hidden: true,
        }),
      ]
    : [];
export const backToInstance = (node: PlannedNode): PlannedStep =>
  planned({
    interface: 'deploy',
    step: 'boot_instance',
    acts: ['power_off', ...diskActs(node), 'power_on'],
    args: toDisk,
    hidden: true,
  });
