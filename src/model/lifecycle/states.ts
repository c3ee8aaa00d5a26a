/** The provision state machine as data, with pure functions on it. */

type StateKind = 'stable' | 'transient' | 'failure' | 'hold';

type StateRow = {
  readonly kind: StateKind;
  /** Default target of a run; null for a final state. A run may have a different one. */
  readonly target: string | null;
  /** PATCH is allowed while a target state is set. */
  readonly patch: boolean;
  /** Deletion is allowed outside maintenance. */
  readonly delete: boolean;
  /** A booted agent may look the node up. */
  readonly lookup: boolean;
};

// Source of rows: openstack/ironic:ironic/common/states.py and state_machine.py.
export const states = {
  enroll: { kind: 'stable', target: null, patch: false, delete: true, lookup: false },
  manageable: { kind: 'stable', target: null, patch: false, delete: true, lookup: false },
  available: { kind: 'stable', target: null, patch: false, delete: true, lookup: false },
  active: { kind: 'stable', target: null, patch: false, delete: false, lookup: false },
  error: { kind: 'stable', target: null, patch: true, delete: false, lookup: false },
  rescue: { kind: 'stable', target: null, patch: false, delete: false, lookup: false },
  verifying: { kind: 'transient', target: 'manageable', patch: true, delete: false, lookup: false },
  deploying: { kind: 'transient', target: 'active', patch: false, delete: false, lookup: true },
  'wait call-back': { kind: 'transient', target: 'active', patch: false, delete: false, lookup: true },
  'deploy failed': { kind: 'failure', target: 'active', patch: true, delete: false, lookup: false },
  'deploy hold': { kind: 'hold', target: 'active', patch: false, delete: false, lookup: false },
  cleaning: { kind: 'transient', target: 'available', patch: false, delete: false, lookup: true },
  'clean wait': { kind: 'transient', target: 'available', patch: false, delete: false, lookup: true },
  'clean failed': { kind: 'failure', target: 'available', patch: true, delete: false, lookup: false },
  'clean hold': { kind: 'hold', target: 'available', patch: false, delete: false, lookup: false },
  deleting: { kind: 'transient', target: 'available', patch: false, delete: false, lookup: false },
  inspecting: { kind: 'transient', target: 'manageable', patch: true, delete: false, lookup: true },
  'inspect failed': { kind: 'failure', target: 'manageable', patch: true, delete: false, lookup: false },
  'inspect wait': { kind: 'transient', target: 'manageable', patch: true, delete: false, lookup: true },
  adopting: { kind: 'transient', target: 'active', patch: false, delete: false, lookup: false },
  'adopt failed': { kind: 'failure', target: 'active', patch: true, delete: true, lookup: false },
  rescuing: { kind: 'transient', target: 'rescue', patch: false, delete: false, lookup: true },
  'rescue wait': { kind: 'transient', target: 'rescue', patch: false, delete: false, lookup: true },
  'rescue failed': { kind: 'failure', target: 'rescue', patch: true, delete: false, lookup: false },
  unrescuing: { kind: 'transient', target: 'active', patch: false, delete: false, lookup: false },
  'unrescue failed': { kind: 'failure', target: 'active', patch: true, delete: false, lookup: false },
  servicing: { kind: 'transient', target: 'active', patch: false, delete: false, lookup: false },
  'service wait': { kind: 'transient', target: 'active', patch: false, delete: false, lookup: true },
  'service failed': { kind: 'failure', target: 'active', patch: true, delete: false, lookup: false },
  'service hold': { kind: 'hold', target: 'active', patch: true, delete: false, lookup: false },
} as const satisfies Record<string, StateRow>;

export type ProvisionState = keyof typeof states;

/** Field of the running step, and the states that show it. */
export const stepFields = {
  clean_step: ['cleaning', 'clean wait', 'clean hold', 'clean failed'],
  deploy_step: ['deploying', 'wait call-back', 'deploy hold'],
  service_step: ['servicing', 'service wait', 'service hold', 'service failed'],
} as const satisfies Record<string, readonly ProvisionState[]>;

export const events = [
  'abort',
  'adopt',
  'clean',
  'delete',
  'deploy',
  'done',
  'fail',
  'hold',
  'inspect',
  'manage',
  'provide',
  'rebuild',
  'rescue',
  'resume',
  'service',
  'unhold',
  'unrescue',
  'wait',
] as const;
export type Event = (typeof events)[number];

type Transition = { readonly from: ProvisionState; readonly on: Event; readonly to: ProvisionState };

export const transitions = [
  { from: 'enroll', on: 'manage', to: 'verifying' },
  { from: 'manageable', on: 'provide', to: 'cleaning' },
  { from: 'manageable', on: 'clean', to: 'cleaning' },
  { from: 'manageable', on: 'inspect', to: 'inspecting' },
  { from: 'manageable', on: 'adopt', to: 'adopting' },
  { from: 'available', on: 'deploy', to: 'deploying' },
  { from: 'available', on: 'manage', to: 'manageable' },
  { from: 'active', on: 'rebuild', to: 'deploying' },
  { from: 'active', on: 'delete', to: 'deleting' },
  { from: 'active', on: 'rescue', to: 'rescuing' },
  { from: 'active', on: 'service', to: 'servicing' },
  { from: 'error', on: 'rebuild', to: 'deploying' },
  { from: 'error', on: 'delete', to: 'deleting' },
  { from: 'rescue', on: 'rescue', to: 'rescuing' },
  { from: 'rescue', on: 'delete', to: 'deleting' },
  { from: 'rescue', on: 'unrescue', to: 'unrescuing' },
  { from: 'verifying', on: 'done', to: 'manageable' },
  { from: 'verifying', on: 'fail', to: 'enroll' },
  { from: 'deploying', on: 'fail', to: 'deploy failed' },
  { from: 'deploying', on: 'wait', to: 'wait call-back' },
  { from: 'deploying', on: 'hold', to: 'deploy hold' },
  { from: 'deploying', on: 'done', to: 'active' },
  { from: 'wait call-back', on: 'hold', to: 'deploy hold' },
  { from: 'wait call-back', on: 'resume', to: 'deploying' },
  { from: 'wait call-back', on: 'fail', to: 'deploy failed' },
  { from: 'wait call-back', on: 'abort', to: 'deploy failed' },
  { from: 'wait call-back', on: 'delete', to: 'deleting' },
  { from: 'deploy failed', on: 'rebuild', to: 'deploying' },
  { from: 'deploy failed', on: 'deploy', to: 'deploying' },
  { from: 'deploy failed', on: 'delete', to: 'deleting' },
  { from: 'deploy hold', on: 'unhold', to: 'wait call-back' },
  { from: 'deploy hold', on: 'abort', to: 'deploy failed' },
  { from: 'cleaning', on: 'done', to: 'available' },
  { from: 'cleaning', on: 'fail', to: 'clean failed' },
  { from: 'cleaning', on: 'wait', to: 'clean wait' },
  { from: 'cleaning', on: 'hold', to: 'clean hold' },
  { from: 'cleaning', on: 'manage', to: 'manageable' },
  { from: 'clean wait', on: 'fail', to: 'clean failed' },
  { from: 'clean wait', on: 'abort', to: 'clean failed' },
  { from: 'clean wait', on: 'hold', to: 'clean hold' },
  { from: 'clean wait', on: 'resume', to: 'cleaning' },
  { from: 'clean failed', on: 'manage', to: 'manageable' },
  { from: 'clean hold', on: 'abort', to: 'clean failed' },
  { from: 'clean hold', on: 'unhold', to: 'clean wait' },
  { from: 'deleting', on: 'fail', to: 'error' },
  { from: 'deleting', on: 'clean', to: 'cleaning' },
  { from: 'inspecting', on: 'done', to: 'manageable' },
  { from: 'inspecting', on: 'fail', to: 'inspect failed' },
  { from: 'inspecting', on: 'wait', to: 'inspect wait' },
  { from: 'inspect failed', on: 'manage', to: 'manageable' },
  { from: 'inspect failed', on: 'inspect', to: 'inspecting' },
  { from: 'inspect wait', on: 'done', to: 'manageable' },
  { from: 'inspect wait', on: 'fail', to: 'inspect failed' },
  { from: 'inspect wait', on: 'abort', to: 'inspect failed' },
  { from: 'inspect wait', on: 'resume', to: 'inspecting' },
  { from: 'adopting', on: 'done', to: 'active' },
  { from: 'adopting', on: 'fail', to: 'adopt failed' },
  { from: 'adopt failed', on: 'adopt', to: 'adopting' },
  { from: 'adopt failed', on: 'manage', to: 'manageable' },
  { from: 'rescuing', on: 'done', to: 'rescue' },
  { from: 'rescuing', on: 'wait', to: 'rescue wait' },
  { from: 'rescuing', on: 'fail', to: 'rescue failed' },
  { from: 'rescue wait', on: 'resume', to: 'rescuing' },
  { from: 'rescue wait', on: 'fail', to: 'rescue failed' },
  { from: 'rescue wait', on: 'abort', to: 'rescue failed' },
  { from: 'rescue wait', on: 'delete', to: 'deleting' },
  { from: 'rescue failed', on: 'rescue', to: 'rescuing' },
  { from: 'rescue failed', on: 'unrescue', to: 'unrescuing' },
  { from: 'rescue failed', on: 'delete', to: 'deleting' },
  { from: 'unrescuing', on: 'done', to: 'active' },
  { from: 'unrescuing', on: 'fail', to: 'unrescue failed' },
  { from: 'unrescue failed', on: 'rescue', to: 'rescuing' },
  { from: 'unrescue failed', on: 'unrescue', to: 'unrescuing' },
  { from: 'unrescue failed', on: 'delete', to: 'deleting' },
  { from: 'servicing', on: 'done', to: 'active' },
  { from: 'servicing', on: 'fail', to: 'service failed' },
  { from: 'servicing', on: 'wait', to: 'service wait' },
  { from: 'servicing', on: 'hold', to: 'service hold' },
  { from: 'service wait', on: 'hold', to: 'service hold' },
  { from: 'service wait', on: 'resume', to: 'servicing' },
  { from: 'service wait', on: 'fail', to: 'service failed' },
  { from: 'service wait', on: 'abort', to: 'service failed' },
  { from: 'service wait', on: 'delete', to: 'deleting' },
  { from: 'service failed', on: 'service', to: 'servicing' },
  { from: 'service failed', on: 'rescue', to: 'rescuing' },
  { from: 'service failed', on: 'wait', to: 'service wait' },
  { from: 'service failed', on: 'hold', to: 'service hold' },
  { from: 'service failed', on: 'delete', to: 'deleting' },
  { from: 'service failed', on: 'abort', to: 'active' },
  { from: 'service hold', on: 'service', to: 'servicing' },
  { from: 'service hold', on: 'unhold', to: 'service wait' },
  { from: 'service hold', on: 'fail', to: 'service failed' },
  { from: 'service hold', on: 'abort', to: 'service failed' },
] as const satisfies readonly Transition[];

const reached = new Map<string, ProvisionState>(transitions.map(({ from, on, to }) => [`${from}\n${on}`, to]));

/** Undefined without a transition. */
export const next = (from: ProvisionState, on: Event): ProvisionState | undefined => reached.get(`${from}\n${on}`);

/** After any tear-down, even a failed one, the instance is gone. */
export const forgets = (from: ProvisionState, to: ProvisionState): 'instance' | null =>
  from === 'deleting' && to !== 'deleting' ? 'instance' : null;

/** Only a run that failed into one of these states leaves a fault. */
export const faultStates: Readonly<Partial<Record<ProvisionState, Fault>>> = {
  'clean failed': 'clean failure',
  'service failed': 'service failure',
};

/** The node waits for an operator's decision. */
export const failedStates: readonly ProvisionState[] = [
  'error',
  ...(Object.keys(states) as ProvisionState[]).filter((state) => states[state].kind === 'failure'),
];

/** In table order. */
export const statesBefore = (on: Event): ProvisionState[] =>
  transitions.filter((row) => row.on === on).map((row) => row.from);

export type PowerState = 'power on' | 'power off' | 'error';

/** `ends` is the awaited state, shown as the target during the run. */
export const powerTargets = {
  'power on': { since: 1, ends: 'power on', acts: ['power_on'], soft: false },
  'power off': { since: 1, ends: 'power off', acts: ['power_off'], soft: false },
  rebooting: { since: 1, ends: 'power on', acts: ['power_off', 'power_on'], soft: false },
  'soft power off': { since: 27, ends: 'power off', acts: ['soft_power_off'], soft: true },
  'soft rebooting': { since: 27, ends: 'power on', acts: ['soft_power_off', 'power_on'], soft: true },
} as const satisfies Record<string, { since: number; ends: PowerState; acts: readonly string[]; soft: boolean }>;

export type PowerTarget = keyof typeof powerTargets;

/** A run of steps controls the power here. */
export const powerRefusedIn: readonly ProvisionState[] = ['cleaning', 'clean wait'];

/** openstack/ironic:ironic/conductor/manager.py SYNC_EXCLUDED_STATES. */
export const powerSyncSkips: readonly ProvisionState[] = ['wait call-back', 'clean wait', 'enroll', 'adopt failed'];

/** Ironic's, and one of Temper's: two ramdisks answered for one node. */
export const faults = [
  'power failure',
  'clean failure',
  'rescue abort failure',
  'service failure',
  'ramdisk conflict',
] as const;
export type Fault = (typeof faults)[number];

/** Outside maintenance, for interfaces and the resource class. */
export const interfaceChangeAllowedIn: readonly ProvisionState[] = [
  'enroll',
  'inspecting',
  'inspect wait',
  'manageable',
  'available',
];

export const protectedAllowedIn: readonly ProvisionState[] = ['active', 'rescue'];
