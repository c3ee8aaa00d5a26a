/** Reads single values of an ipmi node's driver_info, for the API's checks and for the BMC worker. */
import type { Document } from '../document';

/** True for a given value; clients send an empty text for none. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** A value as text. An object is invalid here and may have its own `toString`. */
const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** A value as a number, otherwise NaN. */
export const numberOf = (value: unknown): number => (typeof value === 'object' ? Number.NaN : Number(value));

/** The hops to a BMC behind others, by `ipmi_bridging`: each has a channel and an address. */
export const bridgeHops = { no: [], single: ['target'], dual: ['transit', 'target'] } as const;
export type Bridging = keyof typeof bridgeHops;

/** Reads `ipmi_bridging`; undefined for an invalid text. */
export const bridgingOf = ({ ipmi_bridging }: Document): Bridging | undefined => {
  const kind = isGiven(ipmi_bridging) ? textOf(ipmi_bridging) : 'no';
  return Object.hasOwn(bridgeHops, kind) ? (kind as Bridging) : undefined;
};

/** The way from the addressed BMC to the node's own, as a text for comparison. */
export const wayOf = (info: Document): string => {
  const hops = bridgeHops[bridgingOf(info) ?? 'no'];
  const numberAt = (field: string) => (isGiven(info[field]) ? numberOf(info[field]) : null);
  return JSON.stringify(hops.map((hop) => [numberAt(`ipmi_${hop}_channel`), numberAt(`ipmi_${hop}_address`)]));
};

/** True for a session of IPMI 2.0, whose BMC proves possession of the password. IPMI 1.5 does not. */
export const provesItself = ({ ipmi_protocol_version }: Document): boolean =>
  !isGiven(ipmi_protocol_version) || textOf(ipmi_protocol_version) === '2.0';
