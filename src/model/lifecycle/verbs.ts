/** Verbs for a node's provision state. */
import { type Event, type Fault, next, type ProvisionState, states } from './states';

/** By workflow type. `power` and `call` never change the provision state. */
export type RunKind =
  | 'verify'
  | 'inspect'
  | 'clean'
  | 'deploy'
  | 'undeploy'
  | 'service'
  | 'adopt'
  | 'rescue'
  | 'unrescue'
  | 'power'
  | 'call';

export type VerbRow = {
  readonly event: Event;
  /** Minor version. */
  readonly since: number;
  /** Starts a run, or sends a message to the waiting run (or changes the state at once if the target is stable). */
  readonly does: 'run' | 'message';
  readonly kind?: RunKind;
  /** The caller must or may give steps, or the node's automatic list applies; none if the run has its own. */
  readonly steps?: 'given' | 'optional' | 'automatic' | 'none';
  /** Key of the caller's steps in the request. */
  readonly stepsKey?: 'clean_steps' | 'service_steps' | 'deploy_steps';
  /** Minor version. */
  readonly stepsSince?: number;
  /** A runbook may replace the steps. */
  readonly runbook?: true;
  /** Minor version. */
  readonly configdriveSince?: number;
  readonly rescuePassword?: true;
  readonly protected?: 'refused';
  /** Interface that must not be switched off. */
  readonly needs?: 'inspect' | 'rescue';
  /** Limit of concurrent runs that it counts for. */
  readonly counts?: 'clean' | 'deploy';
  /** Minor version. */
  readonly disableRamdiskSince?: number;
  /** The event of its success. */
  readonly ends?: Event;
  /** If different from the state machine's default. */
  readonly target?: ProvisionState;
  readonly maintenance?: 'refused';
  readonly retired?: 'refused';
  /** The fault of a failed step, which puts the node into maintenance. */
  readonly fault?: Fault;
};

/** Suggestions after a refused verb: by verb, then by state. */
const instead: Readonly<Record<string, Readonly<Partial<Record<ProvisionState, string>>>>> = {
  clean: {
    active:
      'To run steps on a node in use, ask for service with service_steps; to clean it, tear it down first (undeploy).',
    available: 'Ask for manage first, then for clean.',
    enroll: 'Ask for manage first, then for clean.',
    'clean failed': 'Ask for manage first (out of maintenance), then for clean.',
    'service failed': 'Ask for service again, or for abort, which takes the node back to active.',
  },
  service: {
    available: 'Ask for manage and then for clean: service is for nodes in use.',
    manageable: 'Ask for clean: service is for nodes in use.',
  },
  provide: { available: 'It is available already.', enroll: 'Ask for manage first.' },
  active: { manageable: 'Ask for provide first.', enroll: 'Ask for manage and then for provide first.' },
  inspect: {
    available: 'Ask for manage first, then for inspect.',
    active: 'A node in use is not inspected; tear it down first (undeploy), or read its inventory as it was last seen.',
  },
};

export const insteadOf = (verb: string, state: ProvisionState): string | undefined =>
  Object.hasOwn(instead, verb) ? instead[verb]![state] : undefined;

const deployment = {
  does: 'run',
  kind: 'deploy',
  steps: 'optional',
  stepsKey: 'deploy_steps',
  stepsSince: 69,
  ends: 'done',
  maintenance: 'refused',
  counts: 'deploy',
} as const;

const tearDown = {
  event: 'delete',
  does: 'run',
  kind: 'undeploy',
  steps: 'automatic',
  ends: 'done',
  protected: 'refused',
  fault: 'clean failure',
  counts: 'clean',
} as const;

export const verbs = {
  manage: { event: 'manage', since: 4, does: 'run', kind: 'verify', steps: 'none', ends: 'done' },
  provide: {
    event: 'provide',
    since: 4,
    does: 'run',
    kind: 'clean',
    steps: 'automatic',
    ends: 'done',
    retired: 'refused',
    fault: 'clean failure',
    counts: 'clean',
  },
  clean: {
    event: 'clean',
    since: 15,
    does: 'run',
    kind: 'clean',
    steps: 'given',
    stepsKey: 'clean_steps',
    runbook: true,
    disableRamdiskSince: 70,
    ends: 'manage',
    target: 'manageable',
    maintenance: 'refused',
    fault: 'clean failure',
    counts: 'clean',
  },
  service: {
    event: 'service',
    since: 87,
    does: 'run',
    kind: 'service',
    steps: 'given',
    stepsKey: 'service_steps',
    runbook: true,
    disableRamdiskSince: 108,
    ends: 'done',
    maintenance: 'refused',
    fault: 'service failure',
  },
  adopt: { event: 'adopt', since: 17, does: 'run', kind: 'adopt', steps: 'none', ends: 'done' },
  abort: { event: 'abort', since: 13, does: 'message' },
  unhold: { event: 'unhold', since: 85, does: 'message' },
  inspect: { event: 'inspect', since: 6, does: 'run', kind: 'inspect', steps: 'none', ends: 'done', needs: 'inspect' },
  active: { ...deployment, event: 'deploy', since: 1, configdriveSince: 1 },
  // Ironic accepts no steps and no configuration drive with this alias, by oversight.
  deploy: { ...deployment, event: 'deploy', since: 73, configdriveSince: 73 },
  rebuild: { ...deployment, event: 'rebuild', since: 1, configdriveSince: 35, protected: 'refused' },
  deleted: { ...tearDown, since: 1 },
  undeploy: { ...tearDown, since: 73 },
  rescue: {
    event: 'rescue',
    since: 38,
    does: 'run',
    kind: 'rescue',
    steps: 'none',
    ends: 'done',
    maintenance: 'refused',
    rescuePassword: true,
    needs: 'rescue',
  },
  unrescue: {
    event: 'unrescue',
    since: 38,
    does: 'run',
    kind: 'unrescue',
    steps: 'none',
    ends: 'done',
    maintenance: 'refused',
  },
} as const satisfies Record<string, VerbRow>;

export type Verb = keyof typeof verbs;

export const isVerb = (text: string): text is Verb => Object.hasOwn(verbs, text);

/** Has all optional columns in its type. */
export const verbRow = (verb: Verb): VerbRow => verbs[verb];

// A waiting run does not block a legal verb.
const waits = (state: ProvisionState): boolean =>
  next(state, 'resume') !== undefined || next(state, 'unhold') !== undefined;

/** A held node accepts a message to its run, or a verb that takes over from a waiting run. */
export const passesLock = ({ event, does }: Pick<VerbRow, 'event' | 'does'>, from: ProvisionState): boolean => {
  const to = next(from, event);
  return to !== undefined && (does === 'message' ? states[to].kind !== 'stable' : waits(from));
};
