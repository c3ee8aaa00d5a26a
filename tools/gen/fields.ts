/** Renders the fields of every resource of the API from their tables. */
import { resourceTables } from '../../src/api';
import {
  type FieldRow,
  type FilterRow,
  isSortable,
  type ResourceTable,
  sinceOf,
} from '../../src/model/resources/fields';
import { code, codes, page, table } from './markdown';

const since = (row: { readonly since?: number; readonly wire?: 'temper' }): string =>
  row.wire === 'temper' ? 'Temper; shown with `fields=`' : `1.${sinceOf(row)}`;

const typeOf = ({ type, nullable, max, oneOf }: FieldRow): string =>
  [
    type,
    ...(nullable ? ['or null'] : []),
    ...(max ? [`up to ${max}`] : []),
    ...(oneOf ? [oneOf.join(' or ')] : []),
  ].join(', ');

const notes = (row: FieldRow): string =>
  [
    ...(row.inList ? ['in short lists'] : []),
    ...(row.secret ? ['secrets shown as ******'] : []),
    ...(row.redact ? [`shown with ${code(row.redact.rule)}`] : []),
    ...(row.hidden ? ['accepted only, never shown'] : []),
    ...(row.form ? [row.form.says] : []),
    ...(isSortable(row) ? [] : ['no sort key']),
  ].join('; ');

const patchOf = ({ patch, patchSince }: FieldRow): string =>
  patch === undefined ? '' : `${code(patch)}${patchSince ? ` from 1.${patchSince}` : ''}`;

const fieldTable = (fields: readonly FieldRow[]): string =>
  table(
    ['field', 'since', 'type', 'on create', 'changed with rule', 'notes'],
    fields.map((row) => [code(row.name), since(row), typeOf(row), row.create ?? '', patchOf(row), notes(row)]),
  );

const filterText = (filters: readonly FilterRow[]): string =>
  filters.length === 0
    ? ''
    : `List filters: ${filters.map((row) => `${codes([row.name])} (${since(row)})`).join(', ')}.`;

const section = ({ resource, fields, filters }: ResourceTable): string =>
  [`## ${resource}`, fieldTable(fields), filterText(filters)].filter(Boolean).join('\n\n');

/** docs/api-fields.md */
export const renderFields = (): string =>
  page(
    'Fields of the API',
    'Every field of every resource: the API version from which it exists, its type, whether a create request may or must ' +
      'carry it, and the policy rule that a change by PATCH needs (none: read-only).',
    ...resourceTables.map(section),
  );
