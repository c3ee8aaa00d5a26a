/** What every write of a resource leaves beside itself: an audit row with the values, an event with the names of what changed. */
import type { Queries } from '../../inventory';
import { maskSecrets } from '../../model/access/secrets';
import type { Policy } from '../../policy';
import { type Accountable, auditedBy } from '../http/route';

export type Act = 'create' | 'update' | 'delete';

const happened = { create: 'created', update: 'updated', delete: 'deleted' } as const satisfies Record<Act, string>;

export type Recorded = {
  /** The resource in one word: `portgroup`, `deploy_template`. */
  readonly what: string;
  readonly act: Act;
  /** The rule that admitted it. */
  readonly rule: string;
  readonly uuid: string;
  /** Whose projects may hear of it. */
  readonly node?: { readonly uuid: string; readonly owner: string | null; readonly lessee: string | null };
  /** What was written, by field; secrets are masked here. */
  readonly values: Readonly<Record<string, unknown>>;
};

/** Writes both; belongs into the transaction of the change. */
export const recordResource = async (
  store: Pick<Queries, 'audit' | 'events'>,
  policy: Policy,
  asking: Accountable,
  { what, act, rule, uuid, node, values }: Recorded,
): Promise<void> => {
  await store.audit.write({
    ...auditedBy(asking),
    action: `${what}.${act}`,
    rule,
    rule_set: policy.hash,
    resource: what,
    resource_id: uuid,
    ...(node && { node_uuid: node.uuid, project: node.owner }),
    data: maskSecrets(values) as Record<string, unknown>,
  });
  await store.events.append({
    kind: `${what}.${happened[act]}`,
    node_uuid: node?.uuid,
    project: node?.owner,
    lessee: node?.lessee,
    data: { [`${what}_uuid`]: uuid, changed: Object.keys(values) },
  });
};
