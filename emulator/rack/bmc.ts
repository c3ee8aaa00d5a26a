/** Makes a BMC: who it is (derived from its number, so that a rack looks the same at every start) and its first state. */

import { createHash } from 'node:crypto';
import { createGate } from '../agent/gate';
import { biosDefaults } from './bios-attributes';
import type { Profile } from './profiles';
import { countTraffic } from './traffic';
import type { Bmc, BmcState, Timing } from './types';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A BMC that left the factory a minute ago: host off, nothing pending. */
const factoryState = (profile: Profile): BmcState => ({
  power: { shows: 'Off', coming: [], onSince: null },
  indicator: { led: 'Off', assetTag: '' },
  boot: {
    target: 'None',
    enabled: 'Disabled',
    mode: 'UEFI',
    pendingMode: null,
    httpBootUri: null,
    last: null,
    boots: 0,
  },
  bios: { attributes: biosDefaults(profile.bios), pending: {}, resetPending: false, appliedAt: null },
  secureBoot: { enable: false, current: false, mode: 'UserMode' },
  media: Object.fromEntries(
    profile.mediaSlots.map(({ id }) => [
      id,
      { image: null, inserted: false, writeProtected: true, userName: null, transferProtocol: null },
    ]),
  ),
  volumes: {},
  tasks: [],
  late: [],
  firmware: { ...profile.firmware },
  manager: { downUntil: null, lastResetAt: null, clockOffsetMs: 0, localOffset: '+00:00' },
  sessions: [],
  lastId: 0,
});

/** Three bytes that no other BMC of a rack has: which card (lowest bit of the first) and the BMC's number around it. */
const macTail = (index: number, nic: number): string =>
  [((index >> 16) << 1) | nic, index >> 8, index].map((byte) => (byte & 255).toString(16).padStart(2, '0')).join(':');

type Given = { readonly state?: BmcState; readonly latencyMs?: () => number };

export const createBmc = (index: number, profile: Profile, timing: Timing, { state, latencyMs }: Given = {}): Bmc => {
  const hash = digest(`temper-rack-${index}`);
  return {
    index,
    name: `bmc-${index}`,
    profile,
    uuid: `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`,
    serial: hash.slice(32, 39).toUpperCase(),
    macs: [0, 1].map((nic) => `${profile.oui}:${macTail(index, nic)}`),
    username: profile.username,
    password: `rack-${index}-${hash.slice(40, 48)}`,
    timing,
    state: state ?? factoryState(profile),
    faults: [],
    gate: createGate(),
    sessionUse: new Map(),
    requests: {},
    traffic: countTraffic(),
    ...(latencyMs && { latencyMs }),
  };
};

/** As new, but for what must not come twice (numbers, boots) and who is logged in; its host on or off. */
export const renew = (bmc: Bmc, power: 'On' | 'Off', now: number): void => {
  const fresh = factoryState(bmc.profile);
  const { boot, sessions, lastId } = bmc.state;
  bmc.state = {
    ...fresh,
    power: { shows: power, coming: [], onSince: power === 'On' ? now : null },
    boot: { ...fresh.boot, boots: boot.boots },
    sessions,
    lastId,
  };
};

/** The next number for a session, task or volume of this BMC. */
export const nextId = (bmc: Bmc): number => {
  bmc.state.lastId += 1;
  return bmc.state.lastId;
};

export const systemPath = (bmc: Bmc): string => `/redfish/v1/Systems/${bmc.profile.systemId}`;
export const managerPath = (bmc: Bmc): string => `/redfish/v1/Managers/${bmc.profile.managerId}`;
export const chassisPath = (bmc: Bmc): string => `/redfish/v1/Chassis/${bmc.profile.chassisId}`;
