/** Differences between vendors, as rows. The acts and the emulator read these rows and have no other vendor code. */
import type { Pacing } from './contract';

type Holder = {
  /** Matched against the service root's vendor and the system's manufacturer. */
  readonly vendor: RegExp;
  readonly notModel?: RegExp;
  readonly source: string;
};

/** All names that a BMC shows of its maker. */
export type Maker = { readonly names: readonly (string | undefined)[]; readonly model?: string };

const holds = (row: Partial<Holder>, { names, model }: Maker): boolean =>
  names.some((name) => name !== undefined && row.vendor?.test(name)) &&
  !(row.notModel && model !== undefined && row.notModel.test(model));

export type Quirk =
  /** Target, Enabled and Mode must be in one PATCH. */
  | 'boot settings come together'
  /** Target, Enabled and Mode must be in one PATCH; otherwise they fall back to Once and Legacy. */
  | 'boot settings fall back'
  | 'cd is UsbCd'
  /** The SKU is the number on the case; SerialNumber is that of the mainboard. */
  | 'serial is SKU'
  /** Network adapters answer 400 while the host is off. */
  | 'adapters need a running host'
  /** Virtual media have no actions; a PATCH inserts and ejects. */
  | 'media by PATCH';

export type QuirkRow = Holder & { readonly what: Quirk };

export const quirks: readonly QuirkRow[] = [
  {
    vendor: /supermicro/i,
    what: 'boot settings fall back',
    source: 'openstack/sushy system.py, openstack/ironic redfish/management.py',
  },
  {
    vendor: /supermicro/i,
    notModel: /ARS-111GL-NHR/,
    what: 'cd is UsbCd',
    source: 'openstack/ironic redfish/management.py',
  },
  {
    vendor: /^ami$|asrockrack|american megatrends|gigabyte|redfish_compatible/i,
    what: 'boot settings come together',
    source: 'openstack/ironic redfish/management.py; answers PropertyMissing otherwise',
  },
  { vendor: /\bdell\b/i, what: 'serial is SKU', source: 'the service tag: openstack/ironic redfish/inspect.py' },
  {
    vendor: /\bhpe?\b|hewlett/i,
    what: 'adapters need a running host',
    source: 'openstack/ironic redfish/firmware.py, retrieve_nic_components',
  },
  {
    vendor: /lenovo/i,
    notModel: /V[3-9]\b/,
    what: 'media by PATCH',
    source: 'openstack/sushy resources/manager/virtual_media.py: no actions, but Allow names PATCH',
  },
];

export const hasQuirk = (what: Quirk, maker: Maker): boolean =>
  quirks.some((row) => row.what === what && holds(row, maker));

/** Requests with properties that differ between BMCs. */
export type SpelledRequest = 'insert media' | 'eject media' | 'create volume' | 'delete volume';
type QuirkBody = Readonly<Record<string, unknown>>;

/**
 * A property that some BMCs require and others refuse. A refusal that names it adds or removes it. Rows without `vendor` come from
 * single reports.
 */
export type SpellingRow = Partial<Holder> & {
  readonly of: SpelledRequest;
  readonly property: string;
  /** Absent if the property is left out. `url` is that of the medium. */
  readonly value?: (url: string) => unknown;
  /** The part of the name that refusals quote, if not the whole. */
  readonly quoted?: string;
};

const applyTime = { property: '@Redfish.OperationApplyTime', quoted: 'OperationApplyTime' } as const;

export const spellings: readonly SpellingRow[] = [
  {
    of: 'insert media',
    property: 'TransferProtocolType',
    value: (url) => (/^https:/i.test(url) ? 'HTTPS' : 'HTTP'),
    vendor: /^ami$|american megatrends/i,
    source: 'openstack/sushy resources/manager/virtual_media.py',
  },
  { of: 'insert media', property: 'TransferMethod', value: () => 'Stream', source: 'openstack/sushy, the same file' },
  {
    of: 'insert media',
    property: 'UserName',
    quoted: 'UserName|Password',
    value: () => 'none',
    source: 'NVIDIA DGX: openstack/sushy',
  },
  {
    of: 'insert media',
    property: 'Password',
    quoted: 'UserName|Password',
    value: () => 'none',
    source: 'NVIDIA DGX: openstack/sushy',
  },
  // Both default to true (DSP2046, VirtualMedia), and are read-only on X11 and X12. So they are sent only after a refusal.
  { of: 'insert media', property: 'Inserted', value: () => true, source: 'openstack/sushy' },
  { of: 'insert media', property: 'WriteProtected', value: () => true, source: 'openstack/sushy' },
  { of: 'insert media', property: 'Inserted', vendor: /supermicro/i, source: 'openstack/sushy: read-only on X11, X12' },
  {
    of: 'insert media',
    property: 'WriteProtected',
    vendor: /supermicro/i,
    source: 'openstack/sushy: read-only on X11, X12',
  },
  { of: 'create volume', ...applyTime, source: 'no report; what a DELETE is refused for' },
  {
    of: 'delete volume',
    ...applyTime,
    vendor: /\bdell\b/i,
    source: 'iDRAC 6.00.02 and later refuse it on DELETE: openstack/ironic redfish/raid.py',
  },
];

export const spellingsFor = (of: SpelledRequest, maker: Maker): readonly SpellingRow[] =>
  spellings.filter((row) => row.of === of && holds(row, maker));

/** The body changed as the refusal demands; `words` are its text. */
export const respelled = (of: SpelledRequest, body: QuirkBody, words: string, url = ''): QuirkBody => {
  const named = spellings.filter((row) => row.of === of && new RegExp(row.quoted ?? row.property).test(words));
  const wanted = named.filter((row) => row.value !== undefined && !(row.property in body));
  const refused = named
    .filter((row) => row.value === undefined && row.property in body)
    .map(({ property }) => property);
  return {
    ...Object.fromEntries(Object.entries(body).filter(([property]) => !refused.includes(property))),
    ...Object.fromEntries(wanted.map(({ property, value }) => [property, value!(url)])),
  };
};

/** A request that some BMCs refuse without an empty object as body. */
export type EmptyBodyRow = Partial<Holder> & { readonly of: SpelledRequest; readonly statuses: readonly number[] };

export const emptyBodies: readonly EmptyBodyRow[] = [
  {
    of: 'eject media',
    statuses: [400, 415],
    vendor: /\bhpe?\b|hewlett/i,
    source: 'iLO: openstack/sushy resources/manager/virtual_media.py',
  },
];

export const wantsEmptyBody = (of: SpelledRequest, maker: Maker): boolean =>
  emptyBodies.some((row) => row.of === of && holds(row, maker));

export const asksForEmptyBody = (of: SpelledRequest, status: number): boolean =>
  emptyBodies.some((row) => row.of === of && row.statuses.includes(status));

/** Message key of a refusal that may pass. Rows without a vendor are of the standard's Base registry. */
export type BusyKeyRow = Partial<Holder> & {
  readonly key: string;
  /** The key means that the session table is full. */
  readonly sessions?: true;
  /** Prefix of the key in a message id. */
  readonly registry: string;
};

const base = { registry: 'Base.1.12', source: 'DMTF, the Base message registry' } as const;
const ilo = { registry: 'iLO.2.14', vendor: /\bhpe?\b|hewlett/i } as const;
const idrac = { registry: 'IDRAC.2.8', vendor: /\bdell\b/i } as const;

export const busyKeys: readonly BusyKeyRow[] = [
  { ...idrac, key: 'RAC0218', sessions: true, source: 'bb-Ricardo/check_redfish#89' },
  { ...idrac, key: 'SYS518', source: 'its data sources are not available: openstack/sushy connector.py' },
  { ...ilo, key: 'InvalidOperationForSystemState', source: 'just after another power change: openstack/sushy' },
  { ...ilo, key: 'UnableToModifyDuringSystemPOST', source: 'ironcore-dev/metal-operator#997' },
  { ...ilo, key: 'ResourceNotReadyRetry', source: 'HPE, the iLO message registry' },
  { ...base, key: 'SessionLimitExceeded', sessions: true },
  { ...base, key: 'ServiceTemporarilyUnavailable' },
  { ...base, key: 'ServiceShuttingDown' },
  { ...base, key: 'ResourceInUse' },
  {
    ...base,
    key: 'ActionParameterValueConflict',
    source: 'iDRAC10, power on shortly after power off: openstack/ironic redfish/power.py',
  },
];

export const sessionsFullId = (maker: Maker): string => {
  const full = busyKeys.filter(({ sessions }) => sessions);
  const row = full.find((each) => holds(each, maker)) ?? full.find(({ vendor }) => vendor === undefined)!;
  return `${row.registry}.${row.key}`;
};

/** A vendor's job list, which outlives the tasks. `link` is a path of property names in the Manager. */
export type JobListRow = Holder & { readonly link: readonly string[]; readonly idPrefix: string };

export const jobLists: readonly JobListRow[] = [
  {
    vendor: /\bdell\b/i,
    link: ['Links', 'Oem', 'Dell', 'Jobs'],
    idPrefix: 'JID',
    source: 'dell/iDRAC-Redfish-Scripting',
  },
];

export const jobListFor = (maker: Maker): JobListRow | undefined => jobLists.find((row) => holds(row, maker));

/** States of the vendors' job lists and the standard's Job.v1. A job with any other state is under way. */
export const jobStates: Readonly<Record<string, 'waits' | 'done' | 'failed'>> = {
  Scheduled: 'waits',
  Starting: 'waits',
  Pending: 'waits',
  Suspended: 'waits',
  Completed: 'done',
  RebootCompleted: 'done',
  CompletedWithErrors: 'failed',
  Failed: 'failed',
  RebootFailed: 'failed',
  Cancelled: 'failed',
  Exception: 'failed',
};

/** Makers with their own UEFI boot selector for disk. */
export const diskSelectors = [
  {
    /** IANA's private enterprise number, as in `ipmitool mc info`. */
    manufacturerId: 10876,
    selector: 0x24,
    source: 'Supermicro: openstack/ironic drivers/modules/ipmitool.py',
  },
] as const;

export type CourtesyRow = Pacing & { readonly vendor: RegExp; readonly source: string };

/** Default of other vendors. */
const ordinary: Pacing = { spacingMs: 0, afterWriteMs: 0, loginSpacingMs: 0, reads: 2 };

/** Waiting costs a run little; a BMC that hangs costs a visit to the rack. */
export const courtesies: readonly CourtesyRow[] = [
  {
    vendor: /\bdell\b/i,
    spacingMs: 100,
    afterWriteMs: 500,
    loginSpacingMs: 5_000,
    reads: 2,
    source: 'few sessions, login refused with RAC0218 when they are used up: bb-Ricardo/check_redfish#89, #198',
  },
  {
    vendor: /\bhpe?\b|hewlett/i,
    spacingMs: 100,
    afterWriteMs: 500,
    loginSpacingMs: 5_000,
    reads: 2,
    source: 'drops connections of clients in a hurry: NVIDIA/bare-metal-manager-core crates/site-explorer',
  },
  {
    vendor: /super\s?micro/i,
    spacingMs: 200,
    afterWriteMs: 1_000,
    loginSpacingMs: 5_000,
    reads: 1,
    source: 'slow, and forgets boot settings that follow each other closely: openstack/ironic redfish/management.py',
  },
];

export const courtesyFor = (vendor: string | undefined): Pacing =>
  courtesies.find((row) => vendor !== undefined && row.vendor.test(vendor)) ?? ordinary;
