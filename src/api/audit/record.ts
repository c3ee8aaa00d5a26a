/** Audit rows (caller and rule) and events (result) of changes. */
import { type AuditContext, auditedBy } from '../../admission/requester';
import type { Inventory, Queries } from '../../inventory';
import type { AuditRow } from '../../inventory/audit';
import type { EventRow } from '../../inventory/events';
import { maskSecrets } from '../../model/access/secrets';
import type { RolloutUuid } from '../../model/ids';
import { type EventKind, isEventKind, type RecordSubject } from '../../model/resources/event-kinds';
import type { Policy } from '../../policy';

type Data = Readonly<Record<string, unknown>>;

/** A record without event: a read, or an act on the installation. */
type Audited = {
  /** Resource and act, such as `node.update`. */
  readonly action: string;
  readonly rule: string;
  readonly resource: string;
  readonly resource_id: string;
  /** The node, with the projects that may read the row. */
  readonly node?: { readonly uuid: string; readonly owner: string | null; readonly lessee: string | null };
  /** The change; secrets are masked here. */
  readonly data?: Data;
};

export type Change = Audited & {
  /** Event kind, such as `node.updated`. */
  readonly kind: EventKind;
  /** The project that reads the event, if not the node's owner. */
  readonly project?: string | null;
  /** The event's data, if it differs from the audit row's; secrets are masked too. */
  readonly facts?: Data;
};

/** The audit row of a request, secrets masked. */
export const auditRow = (policy: Policy, context: AuditContext, row: Audited): AuditRow => ({
  ...auditedBy(context),
  action: row.action,
  rule: row.rule,
  rule_set: policy.hash,
  resource: row.resource,
  resource_id: row.resource_id,
  ...(row.node && { node_uuid: row.node.uuid, project: row.node.owner }),
  data: maskSecrets(row.data ?? {}),
});

/** Audit row and event, for a statement that also writes the change. */
export const changeRows = (
  policy: Policy,
  context: AuditContext,
  change: Change,
): { readonly audit: AuditRow; readonly event: EventRow } => {
  const audit = auditRow(policy, context, change);
  const { kind, node, project = node?.owner } = change;
  const facts = change.facts ? maskSecrets(change.facts) : audit.data;
  return {
    audit,
    event: {
      kind,
      node_uuid: node?.uuid,
      project,
      lessee: node?.lessee,
      rollout_id: change.resource === 'rollout' ? (change.resource_id as RolloutUuid) : null,
      data: { ...facts, [`${change.resource}_uuid`]: change.resource_id },
    },
  };
};

/** Writes audit row and event. Call it in the change's transaction. */
export const auditAndEvent = async (
  inventory: Pick<Queries, 'audit' | 'events'>,
  policy: Policy,
  context: AuditContext,
  change: Change,
): Promise<void> => {
  const { audit, event } = changeRows(policy, context, change);
  await Promise.all([inventory.audit.write(audit), inventory.events.append(event)]);
};

const happened = { create: 'created', update: 'updated', delete: 'deleted' } as const;

export type AuditedAct = keyof typeof happened;

/** A write of one object, whose event has the data of its audit row. */
export type RecordWrite = Pick<Change, 'rule' | 'node' | 'project'> & {
  /** One word: `portgroup`, `deploy_template`. */
  readonly resource: RecordSubject;
  readonly act: AuditedAct;
  readonly uuid: string;
  /** Written values by field. */
  readonly values: Data;
};

const kindOf = (resource: RecordSubject, act: AuditedAct): EventKind => {
  const kind = `${resource}.${happened[act]}`;
  if (!isEventKind(kind)) throw new Error(`${kind} is not a kind of event.`);
  return kind;
};

export const recordChange = ({ resource, act, uuid, values, ...write }: RecordWrite): Change => ({
  ...write,
  action: `${resource}.${act}`,
  kind: kindOf(resource, act),
  resource,
  resource_id: uuid,
  data: values,
});

/** A write of a resource: the audit row holds the values, the event only the field names. */
export type ResourceWrite = RecordWrite & Pick<Change, 'facts'>;

export const resourceChange = ({ facts, ...write }: ResourceWrite): Change => ({
  ...recordChange(write),
  facts: { changed: Object.keys(write.values), ...facts },
});

/**
 * Runs one change with audit row and event in one transaction.
 * @param write returns the input of `changeOf`
 */
export const auditedWrite = <Row>(
  { inventory, policy }: { readonly inventory: Pick<Inventory, 'transaction'>; policy(): Policy },
  context: AuditContext,
  write: (store: Queries) => Promise<Row>,
  changeOf: (row: Row) => Change,
): Promise<Row> =>
  inventory.transaction(async (store) => {
    const row = await write(store);
    await auditAndEvent(store, policy(), context, changeOf(row));
    return row;
  });
