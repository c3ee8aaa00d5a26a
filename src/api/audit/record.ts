/** What every change leaves beside itself: an audit row (who did it by which rule) and an event (what became of it). */
import type { Inventory, Queries } from '../../inventory';
import type { AuditRow } from '../../inventory/audit';
import type { EventRow } from '../../inventory/events';
import type { Caller } from '../../model/access/callers';
import { maskSecrets } from '../../model/access/secrets';
import type { RolloutUuid } from '../../model/ids';
import type { Origin } from '../../model/resources/audit';
import { type EventKind, isEventKind, type RecordSubject } from '../../model/resources/event-kinds';
import type { Requester } from '../../model/runs/runs';
import type { Policy } from '../../policy';

/** What a row of the audit trail says of the request. */
export type AuditContext = {
  readonly who: Caller;
  readonly requestId: string;
  /** From where; not optional, for what leaves it out loses it without a word. */
  readonly origin: Origin;
  /** Called when the request's handler writes its own row, in the transaction of the change. */
  readonly leavesRow?: () => void;
};

type Data = Readonly<Record<string, unknown>>;

/** What is recorded without an event: a reading, or an act on the installation itself. */
type Audited = {
  /** Resource and act, such as `node.update`. */
  readonly action: string;
  /** The rule that admitted it. */
  readonly rule: string;
  readonly resource: string;
  readonly resource_id: string;
  /** The node it concerns, with the projects that may read of it. */
  readonly node?: { readonly uuid: string; readonly owner: string | null; readonly lessee: string | null };
  /** What changed; secrets are masked here. */
  readonly data?: Data;
};

export type Change = Audited & {
  /** What happened, such as `node.updated`. */
  readonly kind: EventKind;
  /** The project that reads of it, where that is not the owner of a node. */
  readonly project?: string | null;
  /** What the event says, where that is not the data of the audit row; secrets are masked too. */
  readonly facts?: Data;
};

/** The caller of a request, as a run records it. */
export const requesterOf = ({ who, requestId }: Pick<AuditContext, 'who' | 'requestId'>): Requester => ({
  user_id: who.user_id,
  user_name: who.user_name,
  project_id: who.project_id,
  system_scope: who.system_scope,
  strategy: who.strategy,
  request_id: requestId,
});

/** The caller and its address, as the audit trail records them. A run does not show the address: tenants may read it. */
export const auditedBy = (context: AuditContext): { requester: Requester; origin: Origin } => {
  context.leavesRow?.();
  return { requester: requesterOf(context), origin: context.origin };
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
  data: maskSecrets(row.data ?? {}) as Data,
});

/** The audit row and the event of a change, for a statement that writes them with the change itself. */
export const changeRows = (
  policy: Policy,
  context: AuditContext,
  change: Change,
): { readonly audit: AuditRow; readonly event: EventRow } => {
  const audit = auditRow(policy, context, change);
  const { kind, node, project = node?.owner } = change;
  const facts = change.facts ? (maskSecrets(change.facts) as Data) : audit.data;
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

/** Writes the audit row and the event of a change; belongs into its transaction. */
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

/** A write of one object; its event says what its audit row says. */
export type RecordWrite = Pick<Change, 'rule' | 'node' | 'project'> & {
  /** The resource in one word: `portgroup`, `deploy_template`. */
  readonly resource: RecordSubject;
  readonly act: AuditedAct;
  readonly uuid: string;
  /** What was written, by field. */
  readonly values: Data;
};

const kindOf = (resource: RecordSubject, act: AuditedAct): EventKind => {
  const kind = `${resource}.${happened[act]}`;
  if (!isEventKind(kind)) throw new Error(`${kind} is not a kind of event.`);
  return kind;
};

/** The change that such a write is. */
export const recordChange = ({ resource, act, uuid, values, ...write }: RecordWrite): Change => ({
  ...write,
  action: `${resource}.${act}`,
  kind: kindOf(resource, act),
  resource,
  resource_id: uuid,
  data: values,
});

/** A write of a resource: the audit row holds the values, the event the names of the fields. */
export type ResourceWrite = RecordWrite & Pick<Change, 'facts'>;

/** The change that a write of a resource is. */
export const resourceChange = ({ facts, ...write }: ResourceWrite): Change => ({
  ...recordChange(write),
  facts: { changed: Object.keys(write.values), ...facts },
});

/**
 * Makes one change with its audit row and its event, in one transaction.
 * @param write returns what the change is described from
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
