/** Read-only acts for waiting callers: boot devices and virtual media. */

import { masked } from '../../../model/access/secrets';
import type { bootDevices } from '../../../model/lifecycle/steps';
import { ownValue } from '../../../model/own';
import type { ActOutcome } from '../../../model/runs/runs';
import { withoutLastSlashes } from '../../../model/texts';
import { tidyText } from '../../texts';
import { findSystem } from '../discovery/discovery';
import { findSlots, type Slot } from '../discovery/media-slots';
import type { Client } from '../transport/client';
import { type Boot, lookAtBoot, targets } from './boot';

type Device = (typeof bootDevices)[number];

/** Several BMCs name their virtual CD UsbCd. */
const devices: Readonly<Record<string, Device>> = {
  ...Object.fromEntries(Object.entries(targets).map(([device, target]) => [target, device as Device])),
  UsbCd: 'cdrom',
};

const deviceOf = (target: string | undefined): Device | null =>
  target !== undefined && Object.hasOwn(devices, target) ? devices[target]! : null;

/** Without an override the firmware's boot order applies, which has no name. */
const durations: Readonly<Record<string, boolean>> = { Once: false, Continuous: true };

const overrideOf = (boot: Boot): { boot_device: Device | null; persistent: boolean | null } => {
  const boot_device = deviceOf(boot.BootSourceOverrideTarget);
  const persistent = ownValue(durations, boot.BootSourceOverrideEnabled ?? '');
  return persistent === undefined || boot_device === null
    ? { boot_device: null, persistent: null }
    : { boot_device, persistent };
};

export const readBootDevice = async (client: Client): Promise<ActOutcome> => {
  const value = overrideOf((await lookAtBoot(client, await findSystem(client))).boot);
  return { is: 'done', note: value.boot_device ?? 'no boot device is set', value };
};

/** All devices if the BMC lists none. */
export const listBootDevices = async (client: Client): Promise<ActOutcome> => {
  const { boot } = await lookAtBoot(client, await findSystem(client));
  const allowed = boot['BootSourceOverrideTarget@Redfish.AllowableValues'];
  const offered = new Set((allowed ?? Object.keys(devices)).map(deviceOf));
  const supported_boot_devices = (Object.keys(targets) as Device[]).filter((device) => offered.has(device));
  return { is: 'done', value: { supported_boot_devices } };
};

/** Removes secrets: credentials, query, and the token of a boot service URL. */
const shownImage = (image: string | undefined): string | null => {
  const tidy = tidyText(image, 2_000);
  if (tidy === undefined) return null;
  const [bare] = tidy.split(/[?#]/, 1);
  return bare!.replace(/\/\/[^/@]*@/, '//').replace(/\/boot\/[\w-]{43}\//, `/boot/${masked}/`);
};

const mediaView = ({ media }: Slot) => ({
  media_types: (media.MediaTypes ?? []).flatMap((type) => tidyText(type) ?? []),
  inserted: media.Inserted === true,
  image: media.Inserted === true ? shownImage(media.Image) : null,
});

/** The system's slots, else its manager's. BMCs often list the same in both. */
export const readMedia = async (client: Client): Promise<ActOutcome> => {
  const { path } = await findSystem(client);
  const slots = await findSlots(client);
  const own = slots.filter((slot) => slot.path.startsWith(`${withoutLastSlashes(path)}/`));
  const value = (own.length > 0 ? own : slots).map(mediaView);
  return { is: 'done', note: `${value.filter(({ inserted }) => inserted).length} inserted`, value };
};
