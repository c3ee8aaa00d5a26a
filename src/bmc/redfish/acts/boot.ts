/** Boot device and boot mode. */

import { raise } from '../../../model/errors';
import type { bootDevices, bootModes } from '../../../model/lifecycle/steps';
import { ownValue } from '../../../model/own';
import type { ActOutcome } from '../../../model/runs/runs';
import { converge } from '../../converge';
import { hasQuirk, type Quirk } from '../../quirks';
import { findSystem, serviceRoot } from '../discovery/discovery';
import { BootSettings, type System } from '../discovery/resources';
import type { Client, Sent } from '../transport/client';
import { bootModeOf } from './verify';

export const targets: Readonly<Record<(typeof bootDevices)[number], string>> = {
  pxe: 'Pxe',
  disk: 'Hdd',
  cdrom: 'Cd',
  bios: 'BiosSetup',
  uefihttp: 'UefiHttp',
};
const modes: Readonly<Record<(typeof bootModes)[number], string>> = { bios: 'Legacy', uefi: 'UEFI' };

/** The override in force, merged with the settings for the next boot. */
export type Boot = NonNullable<System['Boot']>;
type BootState = { system: System; settingsPath: string | undefined; settings: Boot; boot: Boot };

type BootWanted = Partial<
  Record<
    'BootSourceOverrideTarget' | 'BootSourceOverrideEnabled' | 'BootSourceOverrideMode' | 'HttpBootUri',
    string | undefined
  >
>;

export const lookAtBoot = async (client: Client, at: { look(): Promise<{ value: System }> }): Promise<BootState> => {
  const system = (await at.look()).value;
  const settingsPath = system['@Redfish.Settings']?.SettingsObject?.['@odata.id'];
  const settings = (await client.find(settingsPath, BootSettings))?.value.Boot ?? ({} as Boot);
  const given = Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined && value !== null),
  );
  return { system, settingsPath, settings: given as Boot, boot: { ...(system.Boot ?? {}), ...given } as Boot };
};

const quirkOf = async (client: Client, system: System) => {
  const maker = { names: [(await serviceRoot(client)).Vendor, system.Manufacturer], model: system.Model };
  return (...either: readonly Quirk[]) => either.some((what) => hasQuirk(what, maker));
};

/** Each property goes to the resource that has it, so two PATCHes are possible. */
const patchBoot = async (
  client: Client,
  path: string,
  state: BootState,
  wanted: BootWanted,
  what: string,
): Promise<Sent> => {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const inSettings = given.filter(([name]) => state.settingsPath !== undefined && name in state.settings);
  const inSystem = given.filter((entry) => !inSettings.includes(entry));
  let sent: Sent | undefined;
  if (inSettings.length > 0)
    sent = await client.patch(state.settingsPath!, { Boot: Object.fromEntries(inSettings) }, what);
  if (inSystem.length > 0 && (sent === undefined || sent.is === 'accepted'))
    sent = await client.patch(path, { Boot: Object.fromEntries(inSystem) }, what);
  return sent!;
};

const shownBoot = ({ boot }: BootState): string =>
  `${boot.BootSourceOverrideTarget ?? 'no target'} ${boot.BootSourceOverrideEnabled ?? ''} ${boot.BootSourceOverrideMode ?? ''}`.trim();

/** Throws BmcUnsupported if the BMC does not list the target. */
const targetFor = (client: Client, device: keyof typeof targets, { boot }: BootState, usbCd: boolean): string => {
  const allowed = boot['BootSourceOverrideTarget@Redfish.AllowableValues'];
  const wanted = device === 'cdrom' && usbCd && allowed?.includes('UsbCd') !== false ? 'UsbCd' : targets[device];
  if (allowed && !allowed.includes(wanted))
    return raise('BmcUnsupported', client.facts({ what: `boot device ${device} (it has ${allowed.join(', ')})` }));
  return wanted;
};

/** Some BMCs have one-time overrides only; the note shows it. */
const enabledFor = (persistent: boolean, { boot }: BootState): 'Once' | 'Continuous' => {
  const allowed = boot['BootSourceOverrideEnabled@Redfish.AllowableValues'];
  return persistent && allowed?.includes('Continuous') !== false ? 'Continuous' : 'Once';
};

const durations: Readonly<Record<string, string>> = { Once: 'for the next boot', Continuous: 'for every boot' };

const isInForce = (boot: Boot): boolean => Object.hasOwn(durations, boot.BootSourceOverrideEnabled ?? '');

export const setBootDevice = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const device = args.boot_device as keyof typeof targets;
  const persistent = args.persistent === true;
  // Without it, the firmware takes the URL from DHCP (DSP2046, ComputerSystem, Boot.HttpBootUri).
  const uri = typeof args.image_url === 'string' ? args.image_url : undefined;
  const what = `set boot device ${device}`;
  const at = await findSystem(client);
  const first = await lookAtBoot(client, at);
  const quirk = await quirkOf(client, first.system);
  const target = targetFor(client, device, first, quirk('cd is UsbCd'));
  let enabled = enabledFor(persistent, first);
  // Some BMCs do not show the URL.
  let accepted = false;

  const act = async (state: BootState): Promise<Sent> => {
    const all = quirk('boot settings come together', 'boot settings fall back');
    const send = () =>
      patchBoot(
        client,
        at.path,
        state,
        {
          BootSourceOverrideTarget: target,
          BootSourceOverrideEnabled: all || state.boot.BootSourceOverrideEnabled !== enabled ? enabled : undefined,
          BootSourceOverrideMode: all ? state.boot.BootSourceOverrideMode : undefined,
          HttpBootUri: uri,
        },
        what,
      );
    const sent = await send();
    accepted ||= sent.is === 'accepted';
    if (sent.is !== 'refused' || sent.transient || sent.reply.status !== 400 || enabled === 'Once') return sent;
    enabled = 'Once';
    return send();
  };

  const { state } = await converge<BootState>(client, {
    what,
    desired: { boot_device: device, persistent, system: at.path },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look: () => lookAtBoot(client, at),
    // Some BMCs accept either duration and keep one. Another command would not change that.
    reached: ({ boot }, announced) =>
      boot.BootSourceOverrideTarget === target &&
      (uri === undefined || boot.HttpBootUri === uri || accepted) &&
      (boot.BootSourceOverrideEnabled === enabled || (announced !== undefined && isInForce(boot))),
    act,
    show: shownBoot,
    again: 'now',
  });
  return {
    is: 'done',
    note: `${device}, ${ownValue(durations, state.boot.BootSourceOverrideEnabled ?? '') ?? 'for the next boot'}`,
  };
};

export const setBootMode = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const mode = modes[args.boot_mode as keyof typeof modes];
  const at = await findSystem(client);
  const first = await lookAtBoot(client, at);
  if (first.boot.BootSourceOverrideMode === undefined)
    return raise('BmcUnsupported', client.facts({ what: 'setting the boot mode' }));
  const together = (await quirkOf(client, first.system))('boot settings come together', 'boot settings fall back');
  const what = `set boot mode ${args.boot_mode}`;
  const { state } = await converge<BootState>(client, {
    what,
    desired: { boot_mode: mode, system: at.path },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look: () => lookAtBoot(client, at),
    reached: ({ boot }) => boot.BootSourceOverrideMode === mode,
    act: (now) =>
      patchBoot(
        client,
        at.path,
        now,
        {
          BootSourceOverrideTarget: together ? now.boot.BootSourceOverrideTarget : undefined,
          BootSourceOverrideEnabled: together ? now.boot.BootSourceOverrideEnabled : undefined,
          BootSourceOverrideMode: mode,
        },
        what,
      ),
    show: shownBoot,
    again: 'now',
    // Several BMCs show the old mode until the next boot.
    trusts: true,
  });
  const now = bootModeOf(state.system);
  return {
    is: 'done',
    note: now === args.boot_mode ? what : 'takes effect at the next boot',
    seen: { boot_mode: now },
  };
};
