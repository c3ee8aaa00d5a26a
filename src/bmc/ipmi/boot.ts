/** Boot device: boot parameter 5 of IPMI 2.0, table 28-14. */
import { raise } from '../../model/errors';
import type { bootDevices } from '../../model/lifecycle/steps';
import type { ActOutcome } from '../../model/runs/runs';
import { converge, type Sent } from '../converge';
import { diskSelectors } from '../quirks';
import { type Client, nonsense } from './client';
import { lookAtMaker } from './verify';

/** Second byte of the parameter. */
const selectors = { pxe: 0x04, disk: 0x08, cdrom: 0x14, bios: 0x18 } as const;
type Device = keyof typeof selectors;

type Flags = {
  readonly valid: boolean;
  readonly persistent: boolean;
  readonly uefi: boolean;
  readonly selector: number;
};

const question = ['raw', '0x00', '0x09', '0x05', '0x00', '0x00'];

const lookAtBoot = async (client: Client): Promise<Flags> => {
  const [, , flags, device] = await client.readBytes(question);
  if (flags === undefined || device === undefined) return nonsense(client.facts, question);
  return {
    valid: (flags & 0x80) !== 0,
    persistent: (flags & 0x40) !== 0,
    uefi: (flags & 0x20) !== 0,
    selector: device & 0x3c,
  };
};

const deviceOf = (selector: number): Device | undefined =>
  diskSelectors.some((row) => row.selector === selector)
    ? 'disk'
    : (Object.keys(selectors) as Device[]).find((device) => selectors[device] === selector);

const shownFlags = (now: Flags): string =>
  `${deviceOf(now.selector) ?? `selector ${now.selector}`}${now.uefi ? ' UEFI' : ''}${now.persistent ? ' persistent' : ''}${now.valid ? '' : ' (not in force)'}`;

const capability = (of: Readonly<Record<string, unknown>> | undefined): string | undefined =>
  /(?:^|,)boot_mode:(\w+)/.exec(String(of?.capabilities ?? ''))?.[1];

/** IPMI cannot report the boot mode. */
const bootsUefi = ({ boot_mode, properties, instance_info }: Client['node']): boolean =>
  (capability(instance_info) ?? boot_mode ?? capability(properties) ?? 'uefi') === 'uefi';

const hex = (byte: number): string => `0x${byte.toString(16).padStart(2, '0')}`;

type IpmiBootWanted = {
  readonly device: Device;
  readonly persistent: boolean;
  readonly uefi: boolean;
  readonly selector: number;
};

const commandFor = ({ device, persistent, uefi, selector }: IpmiBootWanted): string[] =>
  uefi
    ? ['raw', '0x00', '0x08', '0x05', persistent ? '0xe0' : '0xa0', hex(selector), '0x00', '0x00', '0x00']
    : ['chassis', 'bootdev', device, ...(persistent ? ['options=persistent'] : [])];

/** Otherwise the BMC drops the device if the node has not started within 60 seconds: IPMI 2.0, boot parameter 3. */
const keepFlags = async (client: Client): Promise<Sent> => {
  const what = 'keeping the boot device for longer than a minute';
  const sent = await client.write(['raw', '0x00', '0x08', '0x03', '0x08'], what);
  if (sent.is !== 'refused' || sent.transient) return sent;
  return raise(
    'BmcUnsupported',
    client.facts({ what: `${what}; set driver_info ipmi_disable_boot_timeout to false if the node starts at once` }),
    { cause: sent.error },
  );
};

const bootWanted = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<IpmiBootWanted> => {
  const asked = args.boot_device as (typeof bootDevices)[number];
  if (!Object.hasOwn(selectors, asked)) return raise('BmcUnsupported', client.facts({ what: `boot device ${asked}` }));
  const device = asked as Device;
  const uefi = bootsUefi(client.node);
  const maker = uefi && device === 'disk' ? await lookAtMaker(client) : undefined;
  const own = diskSelectors.find(({ manufacturerId }) => manufacturerId === maker?.id);
  return {
    device,
    // With force_boot_device, the device is set again before every boot.
    persistent: args.persistent === true && !client.settings.forceBootDevice,
    uefi,
    selector: own?.selector ?? selectors[device],
  };
};

export const setBootDevice = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const wanted = await bootWanted(client, args);
  const what = `set boot device ${wanted.device}`;
  let accepted = false;
  await converge<Flags>(client, {
    what,
    desired: { boot_device: wanted.device, persistent: wanted.persistent, uefi: wanted.uefi },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look: () => lookAtBoot(client),
    // Some BMCs drop the other flags; another command would not change that.
    reached: (now, announced) =>
      now.selector === wanted.selector &&
      ((now.valid && now.persistent === wanted.persistent && now.uefi === wanted.uefi) ||
        accepted ||
        (announced !== undefined && announced.before !== shownFlags(now))),
    act: async () => {
      const kept: Sent = client.settings.disableBootTimeout ? await keepFlags(client) : { is: 'accepted' };
      if (kept.is !== 'accepted') return kept;
      const sent = await client.write(commandFor(wanted), what);
      accepted ||= sent.is === 'accepted';
      return sent;
    },
    show: shownFlags,
    again: 'now',
  });
  return { is: 'done', note: `${wanted.device}, ${wanted.persistent ? 'for every boot' : 'for the next boot'}` };
};

export const readBootDevice = async (client: Client): Promise<ActOutcome> => {
  const now = await lookAtBoot(client);
  const boot_device = deviceOf(now.selector) ?? null;
  return { is: 'done', value: { boot_device, persistent: boot_device === null ? null : now.persistent } };
};

export const listBootDevices = async (): Promise<ActOutcome> => ({
  is: 'done',
  value: { supported_boot_devices: Object.keys(selectors) },
});
