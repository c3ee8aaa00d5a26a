/** The boot override: what a PATCH may say on each vendor, and what becomes of it when the host boots. */

import { asObject, oneOf, onlyProperties, refuse } from './answers';
import { faultOf } from './faults';
import { refuseDuringPost } from './power';
import { bootTargetsOf, shows } from './profiles';
import type { Bmc, Doc } from './types';

const enabledValues = ['Disabled', 'Once', 'Continuous'] as const;
const modeValues = ['UEFI', 'Legacy'] as const;

/** The Boot object of the system. */
export const bootDoc = ({ state: { boot }, profile }: Bmc): Doc => ({
  BootSourceOverrideTarget: boot.target,
  BootSourceOverrideEnabled: boot.enabled,
  'BootSourceOverrideTarget@Redfish.AllowableValues': bootTargetsOf(profile),
  'BootSourceOverrideEnabled@Redfish.AllowableValues': profile.continuous ? enabledValues : ['Disabled', 'Once'],
  ...(profile.bootMode === 'absent'
    ? {}
    : { BootSourceOverrideMode: boot.mode, 'BootSourceOverrideMode@Redfish.AllowableValues': modeValues }),
  ...(profile.bootTargets.includes('UefiHttp') ? { HttpBootUri: boot.httpBootUri } : {}),
});

const checkHabits = (bmc: Bmc, wanted: Doc): void => {
  const { profile, state } = bmc;
  const asked = ['BootSourceOverrideTarget', 'BootSourceOverrideEnabled', 'BootSourceOverrideMode'];
  if (
    shows('boot settings come together', profile) &&
    asked.some((name) => name in wanted) &&
    !asked.every((name) => name in wanted)
  )
    refuse(400, 'PropertyMissing', `The properties ${asked.join(', ')} are required together in the request.`);
  if (profile.bootMode === 'absent' && 'BootSourceOverrideMode' in wanted)
    refuse(
      400,
      'PropertyNotWritable',
      'The property BootSourceOverrideMode is a read only property and cannot be assigned a value.',
    );
  if (wanted.BootSourceOverrideEnabled === 'Continuous' && !profile.continuous)
    refuse(
      400,
      'PropertyValueNotInList',
      'The value Continuous for the property BootSourceOverrideEnabled is not in the list of acceptable values.',
    );
  const target = wanted.BootSourceOverrideTarget ?? state.boot.target;
  if (profile.bootNoneRefusesEnabled && target === 'None' && 'BootSourceOverrideEnabled' in wanted)
    refuse(
      400,
      'PropertyValueConflict',
      'The property BootSourceOverrideEnabled conflicts with BootSourceOverrideTarget None.',
    );
};

/** Applies the Boot part of a PATCH. */
export const patchBoot = (bmc: Bmc, value: unknown, now: number): void => {
  const wanted = asObject('Boot', value);
  onlyProperties(wanted, [
    'BootSourceOverrideTarget',
    'BootSourceOverrideEnabled',
    'BootSourceOverrideMode',
    'HttpBootUri',
  ]);
  refuseDuringPost(bmc, now);
  checkHabits(bmc, wanted);
  const { boot } = bmc.state;
  const { profile } = bmc;
  if (wanted.BootSourceOverrideTarget !== undefined) {
    boot.target = oneOf('BootSourceOverrideTarget', wanted.BootSourceOverrideTarget, bootTargetsOf(profile));
    if (shows('boot settings fall back', profile)) {
      boot.enabled = 'Once';
      boot.mode = 'Legacy';
    } else if (boot.target !== 'None' && boot.enabled === 'Disabled') boot.enabled = 'Once';
  }
  if (wanted.BootSourceOverrideEnabled !== undefined)
    boot.enabled = oneOf('BootSourceOverrideEnabled', wanted.BootSourceOverrideEnabled, enabledValues);
  if (wanted.BootSourceOverrideMode !== undefined) {
    const mode = oneOf('BootSourceOverrideMode', wanted.BootSourceOverrideMode, modeValues);
    if (profile.bootMode === 'next-boot') boot.pendingMode = mode;
    else boot.mode = mode;
  }
  if (wanted.HttpBootUri !== undefined)
    boot.httpBootUri = wanted.HttpBootUri === null ? null : String(wanted.HttpBootUri);
  if (boot.enabled === 'Disabled') boot.target = 'None';
};

/** What the host boots from now; a one-time override is used up by it. */
export const bootHost = (bmc: Bmc, at: number): void => {
  const { boot, media } = bmc.state;
  if (boot.pendingMode !== null) {
    boot.mode = boot.pendingMode;
    boot.pendingMode = null;
  }
  const ignored = faultOf(bmc, 'boot-override-ignored', at) !== undefined;
  const target = boot.enabled === 'Disabled' || boot.target === 'None' || ignored ? 'Hdd' : boot.target;
  const disc = Object.entries(media).find(([slot, medium]) => medium.inserted && hasDisc(bmc, slot))?.[1];
  boot.last = {
    at,
    target,
    mode: boot.mode,
    image: target === 'Cd' || target === 'UsbCd' ? (disc?.image ?? null) : null,
  };
  boot.boots += 1;
  if (boot.enabled === 'Once') {
    boot.enabled = 'Disabled';
    boot.target = 'None';
  }
};

const hasDisc = (bmc: Bmc, slot: string): boolean =>
  bmc.profile.mediaSlots.some(({ id, types }) => id === slot && types.includes('CD'));
