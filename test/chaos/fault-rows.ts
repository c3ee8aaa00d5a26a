/** The catalogue of misbehaving BMCs: what each does wrong, what a run does meanwhile, and how it has to end. */
import { raidConfig, step } from './verbs';

/** What a run may be asked to do; each is a list of cleaning steps. */
const works = {
  reboot: [
    step('management.set_boot_device', { boot_device: 'pxe' }),
    step('power.reboot'),
    step('management.set_indicator', { state: 'blinking' }),
  ],
  media: [
    step('management.attach_virtual_media', { image_url: 'http://images.example.org/tools.iso', device_type: 'cdrom' }),
    step('management.detach_virtual_media', { device_type: 'cdrom' }),
  ],
  raid: [step('raid.create_configuration'), step('raid.delete_configuration')],
  'BMC firmware': [
    step('firmware.update', {
      settings: [{ component: 'bmc', url: 'http://images.example.org/firmware/bmc-99.1.0.bin' }],
    }),
    step('power.reboot'),
  ],
  'BMC reset': [step('management.reset_bmc'), step('power.reboot')],
  'set clock': [step('management.reset_bmc'), step('management.set_bmc_clock')],
  ramdisk: [step('deploy.erase_devices_metadata')],
} as const;

export type Work = keyof typeof works | 'bios' | 'soft power off';

/** Steps of a work; that of the BIOS depends on the BMC. */
export const stepsFor = (work: Work, bios: object): readonly object[] => {
  if (work === 'bios') return [bios];
  return work === 'soft power off' ? [] : works[work];
};

export { raidConfig };

export type FaultRow = {
  /** Number in the catalogue. */
  readonly row: number;
  readonly says: string;
  readonly work: Work;
  /** Of the BMC; any when absent. */
  readonly profile?: string;
  readonly faults: readonly Readonly<Record<string, unknown>>[];
  /** Done while so many power commands are through and the next is on its way. */
  readonly meanwhile?: { readonly does: 'press' | 'rotate'; readonly after: number };
  /** All the ways in which it may end. */
  readonly ends: readonly ('succeeded' | 'failed' | 'parked')[];
};

const well = ['succeeded'] as const;
const known = ['failed'] as const;
const wellOrAsks = ['succeeded', 'parked'] as const;

export const faultRows: readonly FaultRow[] = [
  {
    row: 1,
    says: 'every answer takes 700 ms',
    work: 'reboot',
    faults: [{ kind: 'latency', ms: 700, seconds: 120 }],
    ends: well,
  },
  {
    row: 1,
    says: 'answers take longer and longer, up to 8 s',
    work: 'reboot',
    faults: [500, 1_000, 2_000, 4_000, 8_000].map((ms) => ({ kind: 'latency', ms, remaining: 2 })),
    ends: well,
  },
  {
    row: 1,
    says: 'a write takes 70 s',
    work: 'reboot',
    faults: [{ kind: 'latency', ms: 70_000, method: 'POST', path: 'Reset', remaining: 1 }],
    ends: well,
  },
  {
    row: 1,
    says: 'a request hangs, then the connection is closed',
    work: 'reboot',
    faults: [{ kind: 'hang', ms: 8_000, remaining: 2 }],
    ends: well,
  },
  { row: 2, says: '500 five times', work: 'reboot', faults: [{ kind: 'http-500', remaining: 5 }], ends: well },
  {
    row: 2,
    says: '500 to a write',
    work: 'media',
    faults: [{ kind: 'http-500', method: 'POST', remaining: 1 }],
    ends: well,
  },
  { row: 2, says: '504 with a page of HTML', work: 'reboot', faults: [{ kind: 'html-504', remaining: 3 }], ends: well },
  {
    row: 3,
    says: '503 with Retry-After for 5 s',
    work: 'reboot',
    faults: [{ kind: 'http-503', retryAfter: 2, seconds: 5 }],
    ends: well,
  },
  { row: 3, says: 'silent, then 503, after a reset of the BMC', work: 'BMC reset', faults: [], ends: wellOrAsks },
  {
    row: 4,
    says: 'an old power state for 5 s',
    work: 'reboot',
    faults: [{ kind: 'wrong-power-state', seconds: 5 }],
    ends: well,
  },
  {
    row: 4,
    says: 'the power state flaps once',
    work: 'reboot',
    faults: [{ kind: 'wrong-power-state', value: 'Off', remaining: 1 }],
    ends: well,
  },
  {
    row: 5,
    says: 'the power stays on its way for 15 s',
    work: 'reboot',
    faults: [{ kind: 'power-stuck', seconds: 15 }],
    ends: well,
  },
  {
    row: 5,
    says: 'the power stays on its way for ever',
    work: 'reboot',
    faults: [{ kind: 'power-stuck', seconds: 600 }],
    ends: known,
  },
  {
    row: 5,
    says: 'the system ignores a polite shutdown',
    work: 'soft power off',
    faults: [{ kind: 'ignore-graceful', seconds: 600 }],
    ends: ['succeeded', 'failed'],
  },
  {
    row: 6,
    says: 'reports Off while On, for 10 s after power on',
    work: 'reboot',
    faults: [{ kind: 'wrong-power-state', value: 'Off', seconds: 10 }],
    ends: well,
  },
  {
    row: 7,
    says: '409 to a power command that changes nothing',
    work: 'reboot',
    profile: 'idrac9',
    faults: [],
    ends: well,
  },
  {
    row: 7,
    says: '400 to a power command that changes nothing',
    work: 'reboot',
    profile: 'ilo5',
    faults: [],
    ends: well,
  },
  {
    row: 8,
    says: 'power commands are refused while the power changes',
    work: 'reboot',
    profile: 'ilo6',
    faults: [],
    meanwhile: { does: 'press', after: 1 },
    ends: well,
  },
  { row: 9, says: 'If-Match required, strong spelling only', work: 'reboot', profile: 'ami', faults: [], ends: well },
  { row: 9, says: 'If-Match required (428)', work: 'reboot', profile: 'xcc', faults: [], ends: well },
  { row: 9, says: 'If-Match refused', work: 'reboot', profile: 'xcc-new', faults: [], ends: well },
  {
    row: 9,
    says: '412 three times',
    work: 'reboot',
    faults: [{ kind: 'etag-mismatch', remaining: 3 }],
    ends: well,
  },
  {
    row: 10,
    says: 'connections closed unheard',
    work: 'reboot',
    faults: [{ kind: 'drop-before', remaining: 4 }],
    ends: well,
  },
  {
    row: 10,
    says: 'a power command is executed, its answer lost',
    work: 'reboot',
    faults: [{ kind: 'drop-after-write', method: 'POST', path: 'Reset', remaining: 2 }],
    ends: well,
  },
  {
    row: 10,
    says: 'a volume is made, the answer lost',
    work: 'raid',
    faults: [{ kind: 'drop-after-write', method: 'POST', path: 'Volumes', remaining: 1 }],
    ends: wellOrAsks,
  },
  {
    row: 10,
    says: 'a firmware update begins, the answer lost',
    work: 'BMC firmware',
    faults: [{ kind: 'drop-after-write', method: 'POST', path: 'SimpleUpdate', remaining: 1 }],
    ends: wellOrAsks,
  },
  {
    row: 10,
    says: 'media are inserted, the answer lost',
    work: 'media',
    faults: [{ kind: 'drop-after-write', remaining: 1 }],
    ends: well,
  },
  {
    row: 11,
    says: 'no free session for 6 s',
    work: 'BMC reset',
    faults: [{ kind: 'session-table-full', seconds: 6 }],
    ends: wellOrAsks,
  },
  { row: 11, says: 'a 401 now and then', work: 'reboot', faults: [{ kind: 'auth-refused', remaining: 1 }], ends: well },
  ...(
    [
      ['a task that shows as New', [{ kind: 'task-new', seconds: 600 }], well],
      ['a task that takes 15 s more', [{ kind: 'task-stuck', seconds: 15 }], well],
      ['tasks answer 404 at all times', [{ kind: 'task-vanishes', seconds: 600 }], wellOrAsks],
      ['a task is 404 at first', [{ kind: 'task-late', ms: 1_000, seconds: 600 }], well],
      ['a task is deleted when it has ended', [{ kind: 'task-forgotten', seconds: 600 }], wellOrAsks],
      ['a task is Completed, and Critical', [{ kind: 'task-critical', seconds: 600 }], ['failed', 'parked']],
      ['no Location of the task', [{ kind: 'task-no-location', seconds: 600 }], wellOrAsks],
      ['the task as body, no Location', [{ kind: 'task-in-body', seconds: 600 }], well],
      ['a running task asks for pauses', [{ kind: 'task-retry-after', retryAfter: 2, seconds: 600 }], well],
      ['the task ends well, its effect comes 3 s later', [{ kind: 'work-late', ms: 3_000, seconds: 600 }], well],
    ] as const
  ).map(([says, faults, ends]): FaultRow => ({ row: 12, says, work: 'raid', faults, ends })),
  {
    row: 13,
    says: 'the new version shows late, sessions are gone',
    work: 'BMC firmware',
    profile: 'xcc',
    faults: [{ kind: 'version-late', ms: 4_000, seconds: 600 }],
    ends: wellOrAsks,
  },
  {
    row: 13,
    says: 'the clock is back in 1970 after a reset',
    work: 'set clock',
    profile: 'openbmc',
    faults: [{ kind: 'clock-lost', seconds: 600 }],
    ends: wellOrAsks,
  },
  {
    row: 14,
    says: 'half a JSON document',
    work: 'reboot',
    faults: [{ kind: 'truncated-json', remaining: 3 }],
    ends: well,
  },
  {
    row: 15,
    says: 'settings refused during the self-test, for 8 s',
    work: 'bios',
    profile: 'ilo5',
    faults: [{ kind: 'post-lock', seconds: 8 }],
    ends: well,
  },
  {
    row: 16,
    says: 'ejected media look inserted for 6 s',
    work: 'media',
    faults: [{ kind: 'media-stale', seconds: 6 }],
    ends: well,
  },
  { row: 16, says: 'media by PATCH', work: 'media', profile: 'xcc', faults: [], ends: well },
  { row: 16, says: 'media need TransferProtocolType', work: 'media', profile: 'ami', faults: [], ends: well },
  { row: 16, says: 'an eject needs {}', work: 'media', profile: 'ilo6', faults: [], ends: well },
  {
    row: 17,
    says: 'the boot override is ignored: the ramdisk never starts',
    work: 'ramdisk',
    faults: [{ kind: 'boot-override-ignored', seconds: 600 }],
    ends: known,
  },
  {
    row: 18,
    says: 'BIOS settings stay pending after the restart',
    work: 'bios',
    profile: 'openbmc',
    faults: [{ kind: 'bios-not-applied', seconds: 900 }],
    ends: known,
  },
  {
    row: 19,
    says: 'a RAID job fails, said in its task only',
    work: 'raid',
    profile: 'openbmc',
    faults: [{ kind: 'task-fails', seconds: 600 }],
    ends: known,
  },
  {
    row: 19,
    says: 'volumes change at the next start only',
    work: 'raid',
    profile: 'openbmc',
    faults: [{ kind: 'raid-on-reset', seconds: 600 }],
    ends: well,
  },
  {
    row: 20,
    says: 'every open session adds 500 ms; refused from five on',
    work: 'reboot',
    faults: [{ kind: 'slow-death', ms: 500, seconds: 120 }],
    ends: well,
  },
  {
    row: 21,
    says: 'a technician presses the power button',
    work: 'reboot',
    profile: 'openbmc',
    faults: [],
    meanwhile: { does: 'press', after: 0 },
    ends: well,
  },
  {
    row: 22,
    says: 'the password was changed',
    work: 'reboot',
    faults: [{ kind: 'password-changed', seconds: 600 }],
    ends: known,
  },
  {
    row: 22,
    says: 'the certificate was changed; nodes trust the old one',
    work: 'reboot',
    faults: [],
    meanwhile: { does: 'rotate', after: 0 },
    ends: known,
  },
];
