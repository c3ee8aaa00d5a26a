/** The verbs for a node's provision state, one row each, read by the API and by runs. */
import { type Event, type Fault, next, type ProvisionState, states } from './states';

/** The kinds of run, by workflow type. `power` and `call` run beside the provision state and never change it. */
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
  /** Its event in the state machine. */
  readonly event: Event;
  /** Minor version from which the API accepts it. */
  readonly since: number;
  /** Starts a run, or sends a message to the waiting run (or changes the state at once if the target is stable). */
  readonly does: 'run' | 'message';
  /** The workflow type of its run. */
  readonly story?: RunKind;
  /** The caller must or may give steps, or the node's automatic list applies; none if the run has its own. */
  readonly steps?: 'given' | 'optional' | 'automatic' | 'none';
  /** Key of the request that carries the caller's steps. */
  readonly stepsKey?: 'clean_steps' | 'service_steps' | 'deploy_steps';
  /** Minor version from which that key is accepted. */
  readonly stepsSince?: number;
  /** True if a runbook may replace the steps. */
  readonly runbook?: true;
  /** Minor version from which a configuration drive is accepted. */
  readonly configdriveSince?: number;
  /** True if it needs a rescue password. */
  readonly rescuePassword?: true;
  /** Refused on a protected node. */
  readonly protected?: 'refused';
  /** Interface that must not be switched off. */
  readonly needs?: 'inspect' | 'rescue';
  /** The limit of concurrent runs that it counts for. */
  readonly counts?: 'clean' | 'deploy';
  /** Minor version from which `disable_ramdisk` is accepted. */
  readonly disableRamdiskSince?: number;
  /** The event of its success. */
  readonly ends?: Event;
  /** Its target, if different from the state machine's default. */
  readonly target?: ProvisionState;
  /** Refused in maintenance. */
  readonly maintenance?: 'refused';
  /** Refused for a retired node. */
  readonly retired?: 'refused';
  /** The fault of a failed step, which puts the node into maintenance. */
  readonly fault?: Fault;
};

/** The likely intended verb for a verb in a wrong state: by verb, then by state. */
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

/** A suggestion for the caller; undefined if there is no better verb. */
export const insteadOf = (verb: string, state: ProvisionState): string | undefined =>
  Object.hasOwn(instead, verb) ? instead[verb]![state] : undefined;

const deployment = {
  does: 'run',
  story: 'deploy',
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
  story: 'undeploy',
  steps: 'automatic',
  ends: 'done',
  protected: 'refused',
  fault: 'clean failure',
  counts: 'clean',
} as const;

export const verbs = {
  manage: { event: 'manage', since: 4, does: 'run', story: 'verify', steps: 'none', ends: 'done' },
  provide: {
    event: 'provide',
    since: 4,
    does: 'run',
    story: 'clean',
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
    story: 'clean',
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
    story: 'service',
    steps: 'given',
    stepsKey: 'service_steps',
    runbook: true,
    disableRamdiskSince: 108,
    ends: 'done',
    maintenance: 'refused',
    fault: 'service failure',
  },
  adopt: { event: 'adopt', since: 17, does: 'run', story: 'adopt', steps: 'none', ends: 'done' },
  abort: { event: 'abort', since: 13, does: 'message' },
  unhold: { event: 'unhold', since: 85, does: 'message' },
  inspect: { event: 'inspect', since: 6, does: 'run', story: 'inspect', steps: 'none', ends: 'done', needs: 'inspect' },
  active: { ...deployment, event: 'deploy', since: 1, configdriveSince: 1 },
  // Ironic accepts no steps and no configuration drive with this alias, by oversight. Temper does, since the alias means the same.
  deploy: { ...deployment, event: 'deploy', since: 73, configdriveSince: 73 },
  rebuild: { ...deployment, event: 'rebuild', since: 1, configdriveSince: 35, protected: 'refused' },
  deleted: { ...tearDown, since: 1 },
  undeploy: { ...tearDown, since: 73 },
  rescue: {
    event: 'rescue',
    since: 38,
    does: 'run',
    story: 'rescue',
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
    story: 'unrescue',
    steps: 'none',
    ends: 'done',
    maintenance: 'refused',
  },
} as const satisfies Record<string, VerbRow>;

export type Verb = keyof typeof verbs;

/** True for a verb. */
export const isVerb = (text: string): text is Verb => Object.hasOwn(verbs, text);

/** A verb's row with all optional columns in its type. */
export const verbRow = (verb: Verb): VerbRow => verbs[verb];

// States in which a run waits. Its hold on the node does not block a verb that is legal there.
const waits = (state: ProvisionState): boolean =>
  next(state, 'resume') !== undefined || next(state, 'unhold') !== undefined;

/** True if a node held by a run accepts a verb: a message to that run, or a verb that takes over from a waiting run. */
export const passesLock = ({ event, does }: Pick<VerbRow, 'event' | 'does'>, from: ProvisionState): boolean => {
  const to = next(from, event);
  return to !== undefined && (does === 'message' ? states[to].kind !== 'stable' : waits(from));
};
