/** The two lines that every change writes beside itself: who did it by which rule, and what became of it. */
import type { Queries } from '../../inventory';
import type { AuditRow } from '../../inventory/audit';
import type { EventRow } from '../../inventory/events';
import { maskSecrets } from '../../model/access/secrets';
import type { Policy } from '../../policy';
import { type Accountable, auditedBy } from '../http/route';

export type Change = {
  /** Resource and act, such as `node.update`. */
  readonly action: string;
  /** What happened, such as `node.updated`. */
  readonly kind: string;
  /** The rule that admitted it. */
  readonly rule: string;
  readonly resource: string;
  readonly resource_id: string;
  /** The node it concerns, with the projects that may hear of it. */
  readonly node?: { readonly uuid: string; readonly owner: string | null; readonly lessee: string | null };
  /** What changed; secrets are masked here. */
  readonly data?: Readonly<Record<string, unknown>>;
};

/** The audit row and the event of a change, secrets masked. */
export const recorded = (policy: Policy, asking: Accountable, change: Change): { audit: AuditRow; event: EventRow } => {
  const data = maskSecrets(change.data ?? {}) as Record<string, unknown>;
  return {
    audit: {
      ...auditedBy(asking),
      action: change.action,
      rule: change.rule,
      rule_set: policy.hash,
      resource: change.resource,
      resource_id: change.resource_id,
      ...(change.node && { node_uuid: change.node.uuid, project: change.node.owner }),
      data,
    },
    event: {
      kind: change.kind,
      node_uuid: change.node?.uuid,
      project: change.node?.owner,
      lessee: change.node?.lessee,
      data: { ...data, [`${change.resource}_uuid`]: change.resource_id },
    },
  };
};

/** Writes the audit row and the event of a change into its transaction. */
export const record = async (
  store: Pick<Queries, 'audit' | 'events'>,
  policy: Policy,
  asking: Accountable,
  change: Change,
): Promise<void> => {
  const { audit, event } = recorded(policy, asking, change);
  await Promise.all([store.audit.write(audit), store.events.append(event)]);
};
