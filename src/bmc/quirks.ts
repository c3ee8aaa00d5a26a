/** What differs between vendors, as rows that acts consult. Nothing outside this room knows a vendor. */
import type { Courtesy } from './contract';

export type Quirk =
  /** Target, Enabled and Mode have to come in one PATCH. */
  | 'boot settings come together'
  /** The virtual CD is called UsbCd as a boot target. */
  | 'cd is UsbCd'
  /** The number on the case is the System's SKU; its SerialNumber is that of the mainboard. */
  | 'serial is SKU';

export type QuirkRow = {
  readonly vendor: RegExp;
  /** Models the row does not hold for. */
  readonly notModel?: RegExp;
  readonly what: Quirk;
  readonly source: string;
};

export const quirks: readonly QuirkRow[] = [
  {
    vendor: /supermicro/i,
    what: 'boot settings come together',
    source:
      'without Enabled it falls back to Once and without Mode to Legacy: openstack/sushy system.py, ironic redfish management.py',
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
];

/** Whether a quirk holds for a BMC. `names` are the service root's vendor and the system's manufacturer. */
export const hasQuirk = (what: Quirk, names: readonly (string | undefined)[], model: string | undefined): boolean =>
  quirks.some(
    (row) =>
      row.what === what &&
      names.some((name) => name !== undefined && row.vendor.test(name)) &&
      !(row.notModel && model !== undefined && row.notModel.test(model)),
  );

export type CourtesyRow = Courtesy & { readonly vendor: RegExp; readonly source: string };

/** A BMC of no vendor below: reads as they come, two at a time. */
const ordinary: Courtesy = { spacingMs: 0, afterWriteMs: 0, loginSpacingMs: 0, reads: 2 };

/** How gently each vendor's BMCs have to be treated. Waiting costs a run little; a BMC that hangs costs a walk. */
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

/** How gently a BMC has to be treated, as far as its vendor is known. */
export const courtesyFor = (vendor: string | undefined): Courtesy =>
  courtesies.find((row) => vendor !== undefined && row.vendor.test(vendor)) ?? ordinary;
