/** What differs between vendors, as rows that acts consult. Nothing outside this room knows a vendor. */

export type Quirk =
  /** Target, Enabled and Mode have to come in one PATCH. */
  | 'boot settings come together'
  /** The virtual CD is called UsbCd as a boot target. */
  | 'cd is UsbCd';

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
];

/** Whether a quirk holds for a BMC. `names` are the service root's vendor and the system's manufacturer. */
export const hasQuirk = (what: Quirk, names: readonly (string | undefined)[], model: string | undefined): boolean =>
  quirks.some(
    (row) =>
      row.what === what &&
      names.some((name) => name !== undefined && row.vendor.test(name)) &&
      !(row.notModel && model !== undefined && row.notModel.test(model)),
  );
