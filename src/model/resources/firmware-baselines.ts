/** The firmware that nodes of a kind are to have, and what differs from it on one. Pure. */
import { raise } from '../errors';
import { ownValue } from '../own';

/** Of one component: the version as the BMC names it, and the image that brings it. */
type WantedFirmware = { readonly version: string; readonly url: string };

/** For nodes of a vendor and model, whatever their case; for all others where neither is said. */
export type FirmwareBaseline = {
  readonly vendor?: string;
  readonly model?: string;
  readonly components: Readonly<Record<string, WantedFirmware>>;
};

export type FirmwareDrift = {
  readonly component: string;
  /** Null where the last inspection saw none. */
  readonly current: string | null;
  readonly wanted: string;
  readonly url: string;
};

type Kind = { readonly vendor: string | null; readonly model: string | null };

const fits = (wanted: string | undefined, found: string | null): boolean =>
  wanted === undefined || wanted.trim().toLowerCase() === found?.trim().toLowerCase();

const said = ({ vendor, model }: FirmwareBaseline): number =>
  (vendor === undefined ? 0 : 1) + (model === undefined ? 0 : 1);

/** The baseline that says most of a node's kind; the first of those that say as much. */
const baselineFor = (baselines: readonly FirmwareBaseline[], { vendor, model }: Kind): FirmwareBaseline | undefined =>
  baselines
    .filter((one) => fits(one.vendor, vendor) && fits(one.model, model))
    .reduce<FirmwareBaseline | undefined>((best, one) => (best && said(best) >= said(one) ? best : one), undefined);

/**
 * What differs on a node from its baseline, in the baseline's order. Throws FirmwareCurrent where no baseline is for its kind, or
 * where it has all that is wanted; InvalidInput where a component was never seen: its version cannot be known.
 * @param seen by the last inspection
 * @param node as the caller names it
 */
export const firmwareDrift = (
  baselines: readonly FirmwareBaseline[],
  kind: Kind,
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
