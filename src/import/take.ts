/** Imports one object: compares it with the source and with Temper, and writes it if needed. */
import type { Queries } from '../inventory';
import { brokenReference, brokenUnique, brokenValue } from '../inventory/database';
import type { Imported } from '../inventory/imports';
import type { BoxedSecret, Holding, Sealer } from '../inventory/secrets/sealing';
import { bmcSideOf } from '../model/access/bmc-sides';
import { maskSecrets, secretRefs } from '../model/access/secrets';
import { canonicalJson, sha256Of } from '../model/digests';
import type { Document } from '../model/document';
import type { RunbookUuid } from '../model/ids';
import { marksOf, type Runbook } from '../model/resources/runbooks';
import type { Requester } from '../model/runs/runs';
import { type Kind, kinds, type Taken } from './objects';

/** `kept`: it changed in Temper too, and Temper's version stays. */
export type Outcome =
  | { readonly is: 'new' | 'changed' | 'same' }
  | { readonly is: 'kept' | 'refused'; readonly reason: string };

export type TakeContext = {
  readonly sealer: Sealer;
  readonly before: ReadonlyMap<string, Imported>;
  /** The whole import has one request id in the audit trail. */
  readonly by: { readonly user: string; readonly request_id: string };
};

export const keyOf = ({ kind, uuid }: { readonly kind: string; readonly uuid: string }): string => `${kind} ${uuid}`;

/** A refusal after writes. It rolls the savepoint back. */
class Refusal extends Error {}

// Columns of a node that change without a user's act, so a change is no edit.
const moving = ['power_state', 'target_power_state', 'fault', 'health', 'last_error', 'updated_at'];
const comparedOf = (values: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(values).filter((name) => !moving.includes(name));

/** Without secrets, because a digest would permit guessing them. If one changes, Ironic changes `updated_at` too. */
const sourceDigest = ({ values }: Taken): string => sha256Of(canonicalJson(maskSecrets(values)));

type Sealing = { readonly fields: readonly string[]; readonly of: Omit<Holding, 'field' | 'side'> };

const sealingOf = ({ kind, uuid, values }: Taken): Sealing | undefined => {
  if (kind === 'node')
    return {
      fields: ['driver_info', 'instance_info'],
      of: { holder: 'node', holder_id: uuid, groups: [String(values.conductor_group ?? '')] },
    };
  if (kind === 'volume target')
    return { fields: ['properties'], of: { holder: 'volume_target', holder_id: uuid, groups: 'all' } };
  if (kind === 'runbook') return { fields: ['steps'], of: { holder: 'runbook', holder_id: uuid, groups: 'all' } };
  if (kind === 'deploy template')
    return { fields: ['steps'], of: { holder: 'deploy_template', holder_id: uuid, groups: 'all' } };
  return undefined;
};

const sealed = (sealer: Sealer, taken: Taken) => {
  const sealing = sealingOf(taken);
  const values: Record<string, unknown> = { ...taken.values };
  const secrets: BoxedSecret[] = [];
  for (const field of sealing?.fields ?? []) {
    const side =
      field === 'driver_info'
        ? bmcSideOf({ driver: String(values.driver), driver_info: values.driver_info as Document })
        : undefined;
    const { document, secrets: more } = sealer.seal(values[field], { ...sealing!.of, field, ...(side && { side }) });
    values[field] = document;
    secrets.push(...more);
  }
  return { values, secrets, sealing };
};

const titles: Partial<Record<Kind, string>> = {
  node: 'node',
  port: 'port',
  portgroup: 'portgroup',
  allocation: 'allocation',
};

const requesterOf = ({ user, request_id }: TakeContext['by']): Requester => ({
  user_id: user,
  user_name: user,
  project_id: null,
  system_scope: 'all',
  strategy: 'import',
  request_id,
});

const recordChange = async (
  store: Queries,
  taken: Taken,
  action: 'imported' | 'reimported',
  by: TakeContext['by'],
): Promise<void> => {
  const { kind, uuid, name, values } = taken;
  const node = kind === 'node' ? uuid : ((values.node_uuid as string | undefined) ?? null);
  await store.audit.write({
    requester: requesterOf(by),
    action: `${titles[kind] ?? kind.replace(' ', '_')}.${action}`,
    rule: null,
    rule_set: null,
    resource: kind.replace(' ', '_'),
    resource_id: uuid,
    node_uuid: node,
    data: { name, from: 'ironic' },
  });
  if (kind !== 'node') return;
  await store.events.append({
    kind: action === 'imported' ? 'node.created' : 'node.updated',
    node_uuid: uuid,
    project: values.owner as never,
    lessee: values.lessee as never,
    data: { name, driver: values.driver, imported: true },
  });
};

const store = async (queries: Queries, taken: Taken, known: boolean, { sealer, by }: TakeContext): Promise<void> => {
  const { values, secrets, sealing } = sealed(sealer, taken);
  if (taken.kind === 'runbook') await queries.runbookRevisions.author(requesterOf(by));
  const table = kinds[taken.kind];
  if (known) await queries.imports.replace(table, taken.uuid, values);
  else await queries.imports.insert(table, values);
  if (taken.kind === 'allocation') await queries.imports.link(String(values.node_uuid), taken.uuid);
  await queries.secrets.insert(secrets);
  if (sealing && known)
    await queries.secrets.prune(
      sealing.of.holder,
      taken.uuid,
      sealing.fields.flatMap((field) => secretRefs(values[field] as never)),
    );
  await queries.imports.record({
    kind: taken.kind,
    uuid: taken.uuid,
    source_digest: sourceDigest(taken),
    taken_digest: (await queries.imports.digest(table, taken.uuid, comparedOf(values)))!,
  });
  await recordChange(queries, taken, known ? 'reimported' : 'imported', by);
};

const isThere = async ({ imports }: Pick<Queries, 'imports'>, { kind, uuid }: Pick<Taken, 'kind' | 'uuid'>) =>
  (await imports.digest(kinds[kind], uuid, ['uuid'])) !== undefined;

/** True for an imported object that was then deleted in Temper. */
export const wasDeleted = async (
  queries: Pick<Queries, 'imports'>,
  taken: Pick<Taken, 'kind' | 'uuid'>,
  { before }: Pick<TakeContext, 'before'>,
): Promise<boolean> => before.has(keyOf(taken)) && !(await isThere(queries, taken));

/** Reason to keep Temper's version; undefined if the source may replace it. */
const reasonToKeep = async (queries: Queries, taken: Taken, before: Imported): Promise<string | undefined> => {
  // Waits for other transactions on the object and keeps their changes.
  const now = await queries.imports.digest(kinds[taken.kind], taken.uuid, comparedOf(taken.values), { lock: true });
  if (now === undefined) return 'it was deleted in Temper';
  if (now !== before.taken_digest) return 'it changed in Temper as well as in Ironic';
  if (taken.kind === 'node' && (await queries.imports.isHeld(taken.uuid))) return 'a run holds it in Temper';
  return undefined;
};

/** @returns traits that belong to other owners */
const claimedByOthers = ({ runbookTraits }: Queries, { uuid, values }: Taken): Promise<string[]> => {
  const { name, owner, traits } = values as Pick<Runbook, 'name' | 'owner' | 'traits'>;
  return runbookTraits.claim(uuid as RunbookUuid, owner, marksOf({ name, traits }));
};

/**
 * Runs in a savepoint. Rethrows errors that are no refusal.
 * @param afterDeletion imports an object deleted in Temper as if for the first time
 */
export const take = async (
  queries: Queries,
  taken: Taken,
  context: TakeContext,
  afterDeletion = false,
): Promise<Outcome> => {
  const forgotten = afterDeletion && (await wasDeleted(queries, taken, context));
  const before = forgotten ? undefined : context.before.get(keyOf(taken));
  if (before?.source_digest === sourceDigest(taken)) return { is: 'same' };
  if (before) {
    const reason = await reasonToKeep(queries, taken, before);
    if (reason) return { is: 'kept', reason };
  } else if (await isThere(queries, taken))
    return { is: 'refused', reason: 'Temper has one with this UUID that it did not import' };
  await store(queries, taken, before !== undefined, context);
  const others = taken.kind === 'runbook' ? await claimedByOthers(queries, taken) : [];
  if (others.length > 0)
    throw new Refusal(`on runbooks, ${others.join(', ')} belongs to another project or to the system`);
  return { is: before ? 'changed' : 'new' };
};

/** Message of a refused write; undefined for other errors. */
export const refusalOf = (thrown: unknown): string | undefined => {
  if (thrown instanceof Refusal) return thrown.message;
  const unique = brokenUnique(thrown);
  if (unique)
    return `Temper has another with the same ${unique.replace(/^[a-z]+?_(.*)_key$/, '$1').replaceAll('_', ' ')}`;
  const reference = brokenReference(thrown);
  if (reference) return `what it refers to was not taken (${reference.replace(/_fkey$/, '').replaceAll('_', ' ')})`;
  const value = brokenValue(thrown);
  return value && `Temper’s database does not take it (${value}): mend it in Ironic, then import again`;
};
