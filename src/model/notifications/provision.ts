/** Ironic's notifications about a node's provision state. openstack/ironic:ironic/conductor/task_manager.py. */
import type { Document } from '../document';
import { next, type ProvisionState, states } from '../lifecycle/states';
import { isVerb, type VerbRow, verbRow } from '../lifecycle/verbs';
import type { Notice, NoticedEvent } from './notice';

const isState = (text: unknown): text is ProvisionState => typeof text === 'string' && Object.hasOwn(states, text);

type Move = {
  readonly from: ProvisionState;
  readonly to: ProvisionState;
  readonly event: string | null;
  readonly last_error?: unknown;
};

/** States that change without a request. */
const isUnstable = (state: ProvisionState): boolean => states[state].kind === 'transient';

const failing: readonly unknown[] = ['fail', 'error'];

const statusOf = ({ from, to, event }: Move): string => {
  if (failing.includes(event)) return 'error';
  if (isUnstable(from) === isUnstable(to)) return 'success';
  return isUnstable(to) ? 'start' : 'end';
};

/** A stable state has none. A run may have another target than its states. */
const targetIn = (state: ProvisionState, row: Partial<VerbRow>): string | null =>
  states[state].kind === 'stable' ? null : (row.target ?? states[state].target);

const moveNotice = (move: Move, row: Partial<VerbRow>, at: Date): Notice => {
  const status = statusOf(move);
  const { from, to, event, ...error } = move;
  return {
    service: 'ironic-conductor',
    type: `node.provision_set.${status}`,
    level: status === 'error' ? 'error' : 'info',
    payload: 'nodeProvision',
    values: {
      ...error,
      event,
      provision_state: to,
      target_power_state: null,
      target_provision_state: targetIn(to, row),
      provision_updated_at: at.toISOString(),
      previous_provision_state: from,
      previous_target_provision_state: targetIn(from, row),
    },
  };
};

/** Without cleaning, a tear-down passes through that state in Ironic. */
const passed = (move: Move): Move[] => {
  const cleaning = move.from === 'deleting' && move.event === 'done' ? next('deleting', 'clean') : undefined;
  if (cleaning === undefined || next('deleting', 'done') !== undefined) return [move];
  return [
    { ...move, to: cleaning, event: 'clean' },
    { ...move, from: cleaning },
  ];
};

const eventOf = (kind: string, data: Document, row: Partial<VerbRow>): string | null => {
  const ends: Readonly<Record<string, string | undefined>> = {
    'run.accepted': row.event,
    'run.succeeded': row.ends,
    'run.failed': 'fail',
    'run.aborted': 'abort',
  };
  return ends[kind] ?? (typeof data.event === 'string' ? data.event : null);
};

const moving = ['run.accepted', 'node.moved', 'run.succeeded', 'run.failed', 'run.aborted'];

export const provisionNotices = ({ kind, data, verb, at }: NoticedEvent): Notice[] => {
  const { from, to, error } = data;
  if (!moving.includes(kind) || !isState(from) || !isState(to)) return [];
  const row = verb !== null && isVerb(verb) ? verbRow(verb) : {};
  const ended = kind !== 'run.accepted' && kind !== 'node.moved';
  const move = { from, to, event: eventOf(kind, data, row), ...(ended && { last_error: error ?? null }) };
  return passed(move).map((one) => moveNotice(one, row, at));
};
