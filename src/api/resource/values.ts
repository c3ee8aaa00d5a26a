/** Values to store for create requests and patches: defaults filled in, secrets sealed or kept. */
import { randomUUID } from 'node:crypto';
import type { Queries } from '../../inventory';
import { secretRefs } from '../../model/access/secrets';
import { emptyValue, type ResourceTable } from '../../model/resources/fields';
import type { ApiContext } from '../context';
import { restoreSecrets, type Sealed, sealAll } from './document-secrets';

export type StoredValues = Readonly<Record<string, unknown>>;

/** The given values, and the default of every other field of a create request. */
export const withDefaults = (table: ResourceTable, body: StoredValues): StoredValues => {
  const defaults = table.fields.filter((row) => row.create === 'optional' && row.name !== 'uuid' && !row.hidden);
  return { ...Object.fromEntries(defaults.map((row) => [row.name, emptyValue(row)])), ...body };
};

/** Resources that hold secrets. */
type Holder = 'runbook' | 'volume_target' | 'deploy_template' | 'inspection_rule';

/** A resource's fields with secrets, and their holder. */
export type Sealing = { readonly holder: Holder; readonly fields: readonly string[] };

/** Sealing needs the id before the row is stored. */
export const withId = (sealing: Sealing | undefined, values: StoredValues): StoredValues =>
  sealing && values.uuid === undefined ? { ...values, uuid: randomUUID() } : values;

/** Seals secrets; a returned mask keeps its stored value. Throws InvalidInput for a mask without one. */
export const sealedValues = (
  ctx: ApiContext,
  sealing: Sealing | undefined,
  values: StoredValues,
  stored: StoredValues,
  uuid: unknown,
): { readonly values: StoredValues; readonly secrets: Sealed } => {
  if (!sealing) return { values, secrets: [] };
  const given = sealing.fields.filter((name) => values[name] !== undefined);
  const kept = Object.fromEntries(given.map((name) => [name, restoreSecrets(name, values[name], stored[name])]));
  // Installation rows and volumes, which change nodes: workers of any conductor group may need these secrets.
  const of = { holder: sealing.holder, holder_id: String(uuid), groups: 'all' } as const;
  return sealAll(ctx.vault, { ...values, ...kept }, given, of);
};

/** Stores new secrets and deletes those that the row no longer references. */
export const keepSecrets = async (
  inventory: Queries,
  sealing: Sealing | undefined,
  row: { readonly uuid: string },
  secrets: Sealed,
): Promise<void> => {
  if (!sealing) return;
  // `of_lease` holds values that a lessee replaced. They return when the lease ends.
  const refs = [...sealing.fields, 'of_lease'].flatMap((name) => secretRefs((row as unknown as StoredValues)[name]));
  await inventory.secrets.insert(secrets);
  await inventory.secrets.prune(sealing.holder, row.uuid, refs);
};

/** Deletes all secrets of a row. */
export const dropSecrets = async (inventory: Queries, sealing: Sealing | undefined, uuid: string): Promise<void> => {
  if (sealing) await inventory.secrets.prune(sealing.holder, uuid, []);
};
