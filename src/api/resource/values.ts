/** The values of a resource that a create request or a patch comes to: defaults filled in, secrets sealed or kept. */
import { randomUUID } from 'node:crypto';
import type { Queries } from '../../inventory';
import { secretRefs } from '../../model/access/secrets';
import { emptyValue, type ResourceTable } from '../../model/resources/fields';
import type { ApiContext } from '../context';
import { restoreSecrets, type Sealed, sealAll } from './document-secrets';

export type StoredValues = Readonly<Record<string, unknown>>;

/** What a create request stores: what came, and the default of every field that it might have named. */
export const withDefaults = (table: ResourceTable, body: StoredValues): StoredValues => {
  const defaults = table.fields.filter((row) => row.create === 'optional' && row.name !== 'uuid' && !row.hidden);
  return { ...Object.fromEntries(defaults.map((row) => [row.name, emptyValue(row)])), ...body };
};

/** The holders of secrets that resources are. */
type Holder = 'runbook' | 'volume_target' | 'deploy_template' | 'inspection_rule';

/** Which fields of a resource hold secrets, and under what they are kept. */
export type Sealing = { readonly holder: Holder; readonly fields: readonly string[] };

/** A new row whose secrets are sealed needs its id before it is stored. */
export const withId = (sealing: Sealing | undefined, values: StoredValues): StoredValues =>
  sealing && values.uuid === undefined ? { ...values, uuid: randomUUID() } : values;

/**
 * Values with their secrets sealed; a mask that came back keeps what it hides. Throws InvalidInput where it hides nothing.
 */
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
  // Rows of the installation, and volumes, which change nodes: workers of any conductor group may need them.
  const of = { holder: sealing.holder, holder_id: String(uuid), groups: 'all' } as const;
  return sealAll(ctx.vault, { ...values, ...kept }, given, of);
};

/** Stores what was sealed, and drops what the row no longer refers to. */
export const keepSecrets = async (
  inventory: Queries,
  sealing: Sealing | undefined,
  row: { readonly uuid: string },
  secrets: Sealed,
): Promise<void> => {
  if (!sealing) return;
  // What a lessee wrote over comes back when its lease ends.
  const refs = [...sealing.fields, 'of_lease'].flatMap((name) => secretRefs((row as unknown as StoredValues)[name]));
  await inventory.secrets.insert(secrets);
  await inventory.secrets.prune(sealing.holder, row.uuid, refs);
};

/** Drops all that a row held. */
export const dropSecrets = async (inventory: Queries, sealing: Sealing | undefined, uuid: string): Promise<void> => {
  if (sealing) await inventory.secrets.prune(sealing.holder, uuid, []);
};
