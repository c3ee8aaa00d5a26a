/**
 * The emulated BMCs, as rows: names, limits, and what each offers. Habits that a client has to know of are not here but in
 * src/bmc/quirks.ts, which the rack acts out.
 */
import { hasQuirk, type Maker, type Quirk } from '../../src/bmc/quirks';

export type BiosFamily = 'dell' | 'hpe' | 'lenovo' | 'generic';

export type Profile = {
  readonly name: string;
  readonly vendor: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly product: string;
  readonly username: string;
  /** First three bytes of the MAC addresses. */
  readonly oui: string;
  readonly systemId: string;
  readonly managerId: string;
  readonly chassisId: string;
  readonly firmware: { readonly bios: string; readonly bmc: string; readonly nic: string };
  /** What a PATCH needs: nothing, an If-Match header (428 without), or its absence (412 with one). */
  readonly ifMatch: 'optional' | 'required' | 'refused';
  /** `weak-strict` announces weak ETags and accepts only the strong spelling of them. */
  readonly etag: 'strong' | 'weak' | 'weak-strict';
  readonly sessionLimit: number;
  readonly resetTypes: readonly string[];
  /** Allowable values live in an ActionInfo resource instead of the action itself. */
  readonly actionInfo: boolean;
  readonly managerResetTypes: readonly string[];
  readonly lastResetTime: boolean;
  /** How a power command is answered that changes nothing, and one that arrives in the middle of another. */
  readonly whenAlready: 'accepted' | 'conflict' | 'bad-request';
  readonly whenMoving: 'superseded' | 'conflict' | 'bad-request';
  readonly bootTargets: readonly string[];
  readonly bootMode: 'writable' | 'next-boot' | 'absent';
  readonly continuous: boolean;
  /** `Disabled` is refused together with target None. */
  readonly bootNoneRefusesEnabled: boolean;
  /** Writes are refused while the host is in its power-on self-test. */
  readonly postLock: boolean;
  readonly bios: BiosFamily;
  readonly biosSettings: string;
  readonly biosPending: 'changed' | 'full';
  /** A second write before the reset is refused. */
  readonly biosOneWrite: boolean;
  readonly secureBoot: boolean;
  readonly media: 'manager' | 'system' | 'both';
  readonly mediaSlots: readonly { readonly id: string; readonly types: readonly string[] }[];
  readonly indicator: readonly ('IndicatorLED' | 'LocationIndicatorActive')[];
  readonly controllers: 'embedded' | 'collection';
  readonly storageId: string;
  readonly applyTimes: readonly ('Immediate' | 'OnReset')[];
  readonly expand: boolean;
  readonly bootProgress: boolean;
};

const ordinary = {
  ifMatch: 'optional',
  etag: 'strong',
  sessionLimit: 16,
  resetTypes: ['On', 'ForceOff', 'GracefulShutdown', 'GracefulRestart', 'ForceRestart', 'Nmi', 'PowerCycle'],
  actionInfo: false,
  managerResetTypes: ['GracefulRestart', 'ForceRestart'],
  lastResetTime: false,
  whenAlready: 'accepted',
  whenMoving: 'superseded',
  bootTargets: ['None', 'Pxe', 'Hdd', 'Cd', 'BiosSetup', 'UefiHttp', 'Usb'],
  bootMode: 'writable',
  continuous: true,
  bootNoneRefusesEnabled: false,
  postLock: false,
  bios: 'generic',
  biosSettings: 'Settings',
  biosPending: 'full',
  biosOneWrite: false,
  secureBoot: true,
  media: 'manager',
  mediaSlots: [
    { id: 'CD1', types: ['CD', 'DVD'] },
    { id: 'USB1', types: ['USBStick', 'Floppy'] },
  ],
  indicator: ['IndicatorLED', 'LocationIndicatorActive'],
  controllers: 'collection',
  storageId: 'RAID1',
  applyTimes: ['Immediate', 'OnReset'],
  expand: true,
  bootProgress: true,
} as const satisfies Partial<Profile>;

const idrac: Omit<Profile, 'name' | 'model' | 'product' | 'firmware'> = {
  ...ordinary,
  vendor: 'Dell',
  manufacturer: 'Dell Inc.',
  username: 'root',
  oui: 'b0:26:28',
  systemId: 'System.Embedded.1',
  managerId: 'iDRAC.Embedded.1',
  chassisId: 'System.Embedded.1',
  sessionLimit: 8,
  resetTypes: [
    'On',
    'ForceOff',
    'GracefulShutdown',
    'GracefulRestart',
    'ForceRestart',
    'PushPowerButton',
    'Nmi',
    'PowerCycle',
  ],
  managerResetTypes: ['GracefulRestart'],
  lastResetTime: true,
  whenAlready: 'conflict',
  bootMode: 'next-boot',
  bios: 'dell',
  biosPending: 'changed',
  biosOneWrite: true,
  media: 'both',
  mediaSlots: [
    { id: 'CD', types: ['CD', 'DVD'] },
    { id: 'RemovableDisk', types: ['USBStick'] },
  ],
  storageId: 'RAID.Integrated.1-1',
  controllers: 'embedded',
};

const ilo: Omit<Profile, 'name' | 'model' | 'product' | 'firmware'> = {
  ...ordinary,
  vendor: 'HPE',
  manufacturer: 'HPE',
  username: 'Administrator',
  oui: '94:40:c9',
  systemId: '1',
  managerId: '1',
  chassisId: '1',
  etag: 'weak',
  resetTypes: ['On', 'ForceOff', 'GracefulShutdown', 'ForceRestart', 'Nmi', 'PushPowerButton', 'GracefulRestart'],
  whenAlready: 'bad-request',
  whenMoving: 'bad-request',
  bootNoneRefusesEnabled: true,
  postLock: true,
  bios: 'hpe',
  mediaSlots: [
    { id: '1', types: ['Floppy', 'USBStick'] },
    { id: '2', types: ['CD', 'DVD'] },
  ],
  storageId: 'DE00A000',
};

/** Sources of the habits: section "Quirks" and the tables of the BMC reference; limits are typical values. */
export const profiles: Readonly<Record<string, Profile>> = {
  idrac9: {
    ...idrac,
    name: 'idrac9',
    model: 'PowerEdge R750',
    product: 'Integrated Dell Remote Access Controller',
    firmware: { bios: '1.10.2', bmc: '6.10.30.00', nic: '22.31.6' },
  },
  ilo5: {
    ...ilo,
    name: 'ilo5',
    model: 'ProLiant DL380 Gen10',
    product: 'ProLiant DL380 Gen10',
    firmware: { bios: 'U30 v2.68', bmc: 'iLO 5 v2.72', nic: '20.16.1' },
    bootMode: 'absent',
    indicator: ['IndicatorLED'],
    controllers: 'embedded',
  },
  xcc: {
    ...ordinary,
    name: 'xcc',
    vendor: 'Lenovo',
    manufacturer: 'Lenovo',
    model: 'ThinkSystem SR650 V2',
    product: 'XClarity Controller',
    username: 'USERID',
    oui: '08:94:ef',
    systemId: '1',
    managerId: '1',
    chassisId: '1',
    firmware: { bios: 'AFE120G-1.40', bmc: 'AFBT22F-2.10', nic: '221.0.4' },
    ifMatch: 'required',
    bios: 'lenovo',
    biosSettings: 'Pending',
    mediaSlots: [
      { id: 'EXT1', types: ['CD', 'DVD'] },
      { id: 'Remote1', types: ['USBStick'] },
    ],
  },
  'supermicro-x12': {
    ...ordinary,
    name: 'supermicro-x12',
    vendor: 'Supermicro',
    manufacturer: 'Supermicro',
    model: 'SYS-620P-TRT',
    product: 'X12DPi-N6',
    username: 'ADMIN',
    oui: '3c:ec:ef',
    systemId: '1',
    managerId: '1',
    chassisId: '1',
    firmware: { bios: '1.4b', bmc: '01.01.06', nic: '8.50' },
    etag: 'weak',
    sessionLimit: 16,
    biosSettings: 'SD',
    indicator: ['IndicatorLED'],
    storageId: 'HBA1',
  },
  ami: {
    ...ordinary,
    name: 'ami',
    vendor: 'AMI',
    manufacturer: 'GIGABYTE',
    model: 'R282-Z93',
    product: 'MegaRAC SP-X',
    username: 'admin',
    oui: '18:c0:4d',
    systemId: 'Self',
    managerId: 'Self',
    chassisId: 'Self',
    firmware: { bios: 'R22', bmc: '12.60.17', nic: '14.32.10' },
    ifMatch: 'required',
    etag: 'weak-strict',
    biosSettings: 'SD',
    bootProgress: false,
  },
  openbmc: {
    ...ordinary,
    name: 'openbmc',
    vendor: 'OpenBMC',
    manufacturer: 'Wiwynn',
    model: 'SV7220G3',
    product: 'OpenBMC',
    username: 'root',
    oui: '38:68:dd',
    systemId: 'system',
    managerId: 'bmc',
    chassisId: 'chassis',
    firmware: { bios: '3A17', bmc: 'v2.11.0', nic: '22.36.10' },
    sessionLimit: 64,
    resetTypes: [
      'On',
      'ForceOff',
      'GracefulShutdown',
      'GracefulRestart',
      'ForceRestart',
      'Nmi',
      'PowerCycle',
      'ForceOn',
    ],
    actionInfo: true,
    lastResetTime: true,
    media: 'system',
    indicator: ['LocationIndicatorActive'],
    expand: false,
  },
  ilo6: {
    ...ilo,
    name: 'ilo6',
    model: 'ProLiant DL380 Gen11',
    product: 'ProLiant DL380 Gen11',
    firmware: { bios: 'U54 v1.30', bmc: 'iLO 6 v1.40', nic: '26.35.3' },
  },
  'xcc-new': {
    ...ordinary,
    name: 'xcc-new',
    vendor: 'Lenovo',
    manufacturer: 'Lenovo',
    model: 'ThinkSystem SR650 V3',
    product: 'XClarity Controller 2',
    username: 'USERID',
    oui: '08:94:ef',
    systemId: '1',
    managerId: '1',
    chassisId: '1',
    firmware: { bios: 'ESE124B-3.11', bmc: 'ESX322O-3.80', nic: '26.39.2' },
    ifMatch: 'refused',
    continuous: false,
    bios: 'lenovo',
    biosSettings: 'Pending',
    mediaSlots: [
      { id: 'EXT1', types: ['CD', 'DVD'] },
      { id: 'Remote1', types: ['USBStick'] },
    ],
  },
};

/** The BMC as the rows of src/bmc/quirks.ts see it. */
export const makerOf = ({ vendor, manufacturer, model }: Profile): Maker => ({ names: [vendor, manufacturer], model });

/** Whether the rack has to act a quirk out. */
export const shows = (what: Quirk, profile: Profile): boolean => hasQuirk(what, makerOf(profile));

/** What the host may be told to boot from. */
export const bootTargetsOf = (profile: Profile): readonly string[] =>
  shows('cd is UsbCd', profile) ? [...profile.bootTargets, 'UsbCd'] : profile.bootTargets;

/** The order in which a rack is filled when nobody says otherwise. */
export const profileNames: readonly string[] = Object.keys(profiles);
