/** How single values of an ipmi node's driver_info are read, alike at the moment of writing and by the worker. */
import type { Document } from '../document';

/** Whether a value says anything; clients send an empty text for nothing. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** A value as text: an object, which says nothing here, may have a `toString` of its own. */
const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** A value as a number, NaN for what is none. */
export const numberOf = (value: unknown): number => (typeof value === 'object' ? Number.NaN : Number(value));

/** The hops to a BMC behind others, by `ipmi_bridging`: each has a channel and an address. */
export const bridgeHops = { no: [], single: ['target'], dual: ['transit', 'target'] } as const;
export type Bridging = keyof typeof bridgeHops;

/** Reads `ipmi_bridging`; undefined for a text that is none of its values. */
export const bridgingOf = ({ ipmi_bridging }: Document): Bridging | undefined => {
  const kind = isGiven(ipmi_bridging) ? textOf(ipmi_bridging) : 'no';
  return Object.hasOwn(bridgeHops, kind) ? (kind as Bridging) : undefined;
};

/** The way from the BMC at the address to the node's own, as a text that is equal for equal ways. */
export const wayOf = (info: Document): string => {
  const hops = bridgeHops[bridgingOf(info) ?? 'no'];
  const numberAt = (field: string) => (isGiven(info[field]) ? numberOf(info[field]) : null);
  return JSON.stringify(hops.map((hop) => [numberAt(`ipmi_${hop}_channel`), numberAt(`ipmi_${hop}_address`)]));
};

/** Whether the session is one of IPMI 2.0, whose BMC proves that it knows the password; one of 1.5 does not. */
export const provesItself = ({ ipmi_protocol_version }: Document): boolean =>
  !isGiven(ipmi_protocol_version) || textOf(ipmi_protocol_version) === '2.0';
