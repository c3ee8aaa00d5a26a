/** Firmware baselines: wanted versions for kinds of nodes, and the drift of one node. Pure. */
import { raise } from '../errors';
import { ownValue } from '../own';

/** `version` in the BMC's spelling. */
type WantedFirmware = { readonly version: string; readonly url: string };

/** Ignores case. Applies to all other nodes if neither is set. */
export type FirmwareBaseline = {
  readonly vendor?: string;
  readonly model?: string;
  readonly components: Readonly<Record<string, WantedFirmware>>;
};

export type FirmwareDrift = {
  readonly component: string;
  /** Null if the last inspection found none. */
  readonly current: string | null;
  readonly wanted: string;
  readonly url: string;
};

type HardwareKind = { readonly vendor: string | null; readonly model: string | null };

const fits = (wanted: string | undefined, found: string | null): boolean =>
  wanted === undefined || wanted.trim().toLowerCase() === found?.trim().toLowerCase();

const said = ({ vendor, model }: FirmwareBaseline): number =>
  (vendor === undefined ? 0 : 1) + (model === undefined ? 0 : 1);

/** The most specific one; the first of equals. */
const baselineFor = (
  baselines: readonly FirmwareBaseline[],
  { vendor, model }: HardwareKind,
): FirmwareBaseline | undefined =>
  baselines
    .filter((one) => fits(one.vendor, vendor) && fits(one.model, model))
    .reduce<FirmwareBaseline | undefined>((best, one) => (best && said(best) >= said(one) ? best : one), undefined);

/**
 * In the baseline's order. Throws FirmwareCurrent if no baseline fits or nothing differs. Throws InvalidInput for a component that no
 * inspection has found, because its version is unknown.
 * @param seen by the last inspection
 * @param node as the caller names it
 */
export const firmwareDrift = (
  baselines: readonly FirmwareBaseline[],
  kind: HardwareKind,
  seen: readonly { readonly component: string; readonly current_version?: string | null }[],
  node: string,
): FirmwareDrift[] => {
  const baseline =
    baselineFor(baselines, kind) ??
    raise('FirmwareCurrent', { node, reason: 'no baseline is for its vendor and model' });
  const versions = Object.fromEntries(
    seen.map(({ component, current_version }) => [component, current_version ?? null]),
  );
  const drift = Object.entries(baseline.components).flatMap(([component, { version, url }]) => {
    const current = ownValue(versions, component);
    if (current === undefined)
      raise('InvalidInput', {
        field: `temper.baseline.${component}`,
        reason: `was not seen on node ${node}, which has ${seen.map((one) => one.component).join(', ') || 'nothing on record'}; inspect it first`,
      });
    return current === version ? [] : [{ component, current: current ?? null, wanted: version, url }];
  });
  return drift.length > 0 ? drift : raise('FirmwareCurrent', { node, reason: 'its firmware is that of the baseline' });
};
