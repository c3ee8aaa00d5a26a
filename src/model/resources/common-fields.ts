/** Rows of fields that most resources have. */
import { isMac } from '../ids';
import type { FieldRow } from './fields';

type More = Partial<FieldRow>;

export const uuidField: FieldRow = { name: 'uuid', type: 'uuid', inList: true, create: 'optional' };

/** @param patch the rule for its change */
export const extraField = (patch: string, more: More = {}): FieldRow => ({
  name: 'extra',
  type: 'object',
  nullable: true,
  create: 'optional',
  patch,
  ...more,
});

/** At most 255 characters. @param patch the rule for its change */
export const optionalText = (name: string, patch: string, more: More = {}): FieldRow => ({
  name,
  type: 'text',
  nullable: true,
  create: 'optional',
  patch,
  max: 255,
  ...more,
});

/** @param patch the rule for its change */
export const macField = (patch: string, more: More): FieldRow => ({
  name: 'address',
  type: 'text',
  inList: true,
  patch,
  lower: true,
  form: { is: isMac, says: 'a MAC address such as 52:54:00:12:34:56' },
  ...more,
});

/** @param patch the rule for its change */
export const physicalNetwork = (patch: string, since: number): FieldRow =>
  optionalText('physical_network', patch, { since, min: 1, max: 64 });

/** Timestamps and links. @param since minor version of the resource */
export const recordFields = (since?: number): readonly FieldRow[] => [
  { name: 'created_at', since, type: 'timestamp' },
  { name: 'updated_at', since, type: 'timestamp' },
  { name: 'links', since, type: 'links', column: null, always: true },
];
