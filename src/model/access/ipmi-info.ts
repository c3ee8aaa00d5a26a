/** Reads values of an ipmi node's driver_info, for the API and the BMC worker. */
import type { Document } from '../document';

/** Clients send an empty text for no value. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** An object is invalid here and may have its own `toString`. */
const settingText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

export const numberOf = (value: unknown): number => (typeof value === 'object' ? Number.NaN : Number(value));

/** Hops to a BMC behind others, each with a channel and an address. */
export const bridgeHops = { no: [], single: ['target'], dual: ['transit', 'target'] } as const;
export type Bridging = keyof typeof bridgeHops;

export const bridgingOf = ({ ipmi_bridging }: Document): Bridging | undefined => {
  const kind = isGiven(ipmi_bridging) ? settingText(ipmi_bridging) : 'no';
  return Object.hasOwn(bridgeHops, kind) ? (kind as Bridging) : undefined;
};

/** The hops as a text for comparison. */
export const wayOf = (info: Document): string => {
  const hops = bridgeHops[bridgingOf(info) ?? 'no'];
  const numberAt = (field: string) => (isGiven(info[field]) ? numberOf(info[field]) : null);
  return JSON.stringify(hops.map((hop) => [numberAt(`ipmi_${hop}_channel`), numberAt(`ipmi_${hop}_address`)]));
};

/** Only the BMC of an IPMI 2.0 session proves possession of the password. */
export const provesItself = ({ ipmi_protocol_version }: Document): boolean =>
  !isGiven(ipmi_protocol_version) || settingText(ipmi_protocol_version) === '2.0';
