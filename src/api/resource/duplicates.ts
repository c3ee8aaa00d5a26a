/** Constraint violations of writes as API errors that name the field and the value. */
import { brokenReference, brokenUnique } from '../../inventory/database';
import { raise } from '../../model/errors';
import { fieldOf, type ResourceTable } from '../../model/resources/fields';

/** The field of a violated constraint. PostgreSQL names them `<collection>_<field>_key` or `_fkey`. */
const fieldBehind = (table: ResourceTable, constraint: string): string | undefined => {
  const field = new RegExp(`^${table.collection}_(\\w+)_f?key$`).exec(constraint)?.[1];
  return field !== undefined && fieldOf(table, field) ? field : undefined;
};

const notFound = (field: string, value: unknown): string =>
  `${field.replace(/_uuid$/, '')} ${value} could not be found`;

/** Runs a write. Throws Duplicate for a violated unique constraint, InvalidInput for a violated foreign key. */
export const refusingDuplicates = async <T>(
  table: ResourceTable,
  values: Readonly<Record<string, unknown>>,
  write: () => Promise<T>,
): Promise<T> => {
  try {
    return await write();
  } catch (thrown) {
    const missing = fieldBehind(table, brokenReference(thrown) ?? '');
    if (missing !== undefined)
      raise('InvalidInput', { field: missing, reason: notFound(missing, values[missing]) }, { cause: thrown });
    const field = fieldBehind(table, brokenUnique(thrown) ?? '');
    if (field === undefined) throw thrown;
    return raise('Duplicate', { resource: table.resource, field, value: values[field] }, { cause: thrown });
  }
};
