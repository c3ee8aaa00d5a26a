/** A notification as Ironic sends it, before it has its row's values, and the event that it comes from. */
import type { Document } from '../document';
import type { EventKind } from '../resources/event-kinds';
import type { PayloadKind } from './payloads';

export const notificationLevels = ['debug', 'info', 'warning', 'error', 'critical'] as const;
export type NotificationLevel = (typeof notificationLevels)[number];

/** Tables with notifications of their rows. */
export type NotifiedTable =
  | 'nodes'
  | 'ports'
  | 'portgroups'
  | 'chassis'
  | 'allocations'
  | 'volume_connectors'
  | 'volume_targets'
  | 'deploy_templates';

export type NoticedEvent = {
  readonly at: Date;
  readonly kind: EventKind;
  readonly node_uuid: string | null;
  readonly project: string | null;
  readonly lessee: string | null;
  readonly data: Document;
  /** Of the event's run, as accepted; `power` is the target of its power. */
  readonly verb: string | null;
  readonly power: string | null;
};

export type Notice = {
  readonly service: 'ironic-api' | 'ironic-conductor';
  /** `node.create.start`; Ironic puts `baremetal.` before it. */
  readonly type: string;
  readonly level: NotificationLevel;
  readonly payload: PayloadKind;
  /** Values that the event knows better than the row, which may have changed since. */
  readonly values: Document;
  /** The only columns whose values were there already; others are null. Absent: all were. */
  readonly only?: readonly string[];
};

export type Noticed = {
  readonly table: NotifiedTable;
  readonly uuid: string;
  readonly notices: readonly Notice[];
};
