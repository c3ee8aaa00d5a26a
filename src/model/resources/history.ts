/** A node's history: its events and their texts. */

import type { NodeUuid } from '../ids';
import type { EventKind } from './event-kinds';
import type { ResourceTable } from './fields';

export type HistoryEvent = {
  readonly seq: number;
  readonly node_uuid: NodeUuid;
  readonly kind: EventKind;
  readonly run_id: string | null;
  readonly verb: string | null;
  readonly data: Readonly<Record<string, unknown>>;
};

type Severity = 'INFO' | 'ERROR';
type HistoryRow = { readonly severity: Severity; readonly says: (event: HistoryEvent) => string };

const historyText = (value: unknown): string => (value === null || value === undefined ? 'unknown' : String(value));
const runOf = ({ verb, run_id }: HistoryEvent): string => `Run ${historyText(run_id)} (${historyText(verb)})`;
const stepOf = ({ data }: HistoryEvent): string => historyText(data.step ?? data.index);

/** Always in a history. Other kinds are in it only with an error. */
export const historyKinds: Readonly<Partial<Record<EventKind, HistoryRow>>> = {
  'node.moved': {
    severity: 'INFO',
    says: ({ data }) => `The node moved from ${historyText(data.from)} to ${historyText(data.to)}.`,
  },
  'run.accepted': { severity: 'INFO', says: (event) => `${runOf(event)} was accepted.` },
  'run.succeeded': { severity: 'INFO', says: (event) => `${runOf(event)} succeeded.` },
  'run.failed': { severity: 'ERROR', says: (event) => `${runOf(event)} failed: ${historyText(event.data.error)}` },
  'run.aborted': { severity: 'INFO', says: (event) => `${runOf(event)} was aborted: ${historyText(event.data.error)}` },
  'step.tried': {
    severity: 'ERROR',
    says: (event) =>
      `Attempt ${historyText(event.data.attempt)} of step ${stepOf(event)} failed: ${historyText(event.data.error)}`,
  },
  'step.parked': {
    severity: 'ERROR',
    says: (event) => `Step ${stepOf(event)} is parked: ${historyText(event.data.error ?? event.data.note)}`,
  },
};

export const historyRow = (kind: EventKind): HistoryRow =>
  historyKinds[kind] ?? { severity: 'ERROR', says: (event) => `${kind}: ${historyText(event.data.error)}` };

// Ironic's types. Moves of the node have a separate type.
const typesByVerb: Readonly<Record<string, string>> = {
  manage: 'verify',
  verify: 'verify',
  inspect: 'introspection',
  adopt: 'adoption',
  deleted: 'unprovision',
  undeploy: 'unprovision',
  power: 'conductor',
};
const moves: readonly EventKind[] = ['node.moved', 'run.accepted', 'run.succeeded', 'run.aborted'];

/** A transition if it changes the state. Events outside runs come from monitoring. */
export const historyType = ({ kind, verb }: Pick<HistoryEvent, 'kind' | 'verb'>): string => {
  if (moves.includes(kind)) return 'transition';
  return verb === null ? 'monitoring' : (typesByVerb[verb] ?? 'provisioning');
};

const highestSeq = 0xffff_ffff_ffff;

/** First half of the node's UUID, version 8 (custom), then the event's number. */
export const historyUuid = (node: NodeUuid, seq: number): string =>
  `${node.slice(0, 14)}8${node.slice(15, 18)}-8${node.slice(20, 23)}-${seq.toString(16).padStart(12, '0')}`;

/** Undefined if the id is not one of this node's. */
export const historySeq = (node: NodeUuid, uuid: string): number | undefined => {
  const seq = Number.parseInt(uuid.slice(24), 16);
  return seq <= highestSeq && historyUuid(node, seq) === uuid ? seq : undefined;
};

/** Minor version. */
export const historySince = 78;

export const historyTable: ResourceTable = {
  resource: 'history',
  collection: 'history',
  fields: [
    { name: 'uuid', type: 'uuid', inList: true, sortable: false },
    { name: 'created_at', type: 'timestamp', inList: true },
    { name: 'severity', type: 'text', inList: true, sortable: false },
    { name: 'event', type: 'text', inList: true, sortable: false },
    { name: 'event_type', type: 'text', sortable: false },
    { name: 'conductor', type: 'text', sortable: false },
    { name: 'user', type: 'text', sortable: false },
    { name: 'project', since: 113, type: 'text', sortable: false },
    { name: 'state', since: 115, type: 'text', sortable: false },
    { name: 'target_provision_state', since: 115, type: 'text', sortable: false },
    { name: 'duration_seconds', since: 115, type: 'integer', sortable: false },
    { name: 'links', type: 'links', column: null, inList: true, unlessFields: true },
  ],
  filters: [],
};

const longestEvent = 255;
const cutTo = 251;

/** For lists without detail. */
export const shortEvent = (event: string): string =>
  event.length > longestEvent ? `${event.slice(0, cutTo)}...` : event;
