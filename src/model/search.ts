/** Readings of a searched text. It is the beginning of a name, an id or an address. */
import { type UuidRange, uuidsFrom } from './ids';

/** Of each kind of object. */
export const mostFound = 10;

/** Fields of nodes in the order of their weight. */
export const searchedFields = ['name', 'uuid', 'address', 'serial_number', 'rack'] as const;
export type SearchedField = (typeof searchedFields)[number];

export type SearchTerm = {
  readonly text: string;
  readonly uuids?: UuidRange;
  /** The beginning of a MAC address, as addresses are stored. */
  readonly address?: string;
};

// Fewer digits would be found in many identifiers of a fleet.
const fewestDigits = 4;

const separators = /[:.-]/g;

const addressFrom = (text: string): string | undefined => {
  const digits = text.replace(separators, '').toLowerCase();
  if (!/^[0-9a-f]*$/.test(digits) || digits.length < fewestDigits || digits.length > 12) return undefined;
  return digits.match(/..?/g)!.join(':');
};

export const searchTerm = (given: string): SearchTerm => {
  const text = given.trim();
  const uuids = text.length >= fewestDigits ? uuidsFrom(text) : undefined;
  const address = addressFrom(text);
  return { text, ...(uuids && { uuids }), ...(address !== undefined && { address }) };
};
