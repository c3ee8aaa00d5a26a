/** The verbs a caller may ask of a node's provision state, and what each does: one row each, walked by API and runs. */
import type { Event, Fault, ProvisionState } from './states';

/** What a run is the story of. `power` runs beside the provision state and never changes it. */
export type Story = 'verify' | 'clean' | 'service' | 'adopt' | 'power';

export type VerbRow = {
  /** The event it is to the state table. */
  readonly event: Event;
  /** Minor version from which the wire accepts it. */
  readonly since: number;
  /** How it is done: a run of its own, a message to the run that waits, or at once where the table leads to a stable state. */
  readonly does: 'run' | 'message' | 'later';
  /** The story of its run. */
  readonly story?: Story;
  /** Steps come from the caller, from the automatic list, or not at all. */
  readonly steps?: 'given' | 'automatic' | 'none';
  /** Key of the request that carries the caller's steps. */
  readonly stepsKey?: 'clean_steps' | 'service_steps';
  /** Rule for raw steps; a runbook has a rule of its own instead. */
  readonly stepsRule?: string;
  /** Minor version from which `disable_ramdisk` is accepted. */
  readonly disableRamdiskSince?: number;
  /** The event that ends it well. */
  readonly ends?: Event;
  /** Where it is heading, where that differs from the state table's default. */
  readonly target?: ProvisionState;
  /** Whether it is refused in maintenance. */
  readonly maintenance?: 'refused';
  /** Whether a retired node is refused. */
  readonly retired?: 'refused';
  /** The fault that a failed step leaves; the node then goes to maintenance. */
  readonly fault?: Fault;
  /** Needs the ramdisk agent or other parts that do not exist yet: refused with 400, saying so. */
  readonly missing?: string;
};

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
  },
  clean: {
    event: 'clean',
    since: 15,
    does: 'run',
    story: 'clean',
    steps: 'given',
    stepsKey: 'clean_steps',
    stepsRule: 'baremetal:node:set_provision_state:clean_steps',
    disableRamdiskSince: 70,
    ends: 'manage',
    target: 'manageable',
    maintenance: 'refused',
    fault: 'clean failure',
  },
  service: {
    event: 'service',
    since: 87,
    does: 'run',
    story: 'service',
    steps: 'given',
    stepsKey: 'service_steps',
    stepsRule: 'baremetal:node:set_provision_state:service_steps',
    disableRamdiskSince: 108,
    ends: 'done',
    maintenance: 'refused',
    fault: 'service failure',
  },
  adopt: { event: 'adopt', since: 17, does: 'run', story: 'adopt', steps: 'none', ends: 'done' },
  abort: { event: 'abort', since: 13, does: 'message' },
  unhold: { event: 'unhold', since: 85, does: 'message' },
  inspect: { event: 'inspect', since: 6, does: 'later', missing: 'inspection' },
  active: { event: 'deploy', since: 1, does: 'later', missing: 'deployment' },
  deploy: { event: 'deploy', since: 73, does: 'later', missing: 'deployment' },
  rebuild: { event: 'rebuild', since: 1, does: 'later', missing: 'deployment' },
  deleted: { event: 'delete', since: 1, does: 'later', missing: 'tear-down' },
  undeploy: { event: 'delete', since: 73, does: 'later', missing: 'tear-down' },
  rescue: { event: 'rescue', since: 38, does: 'later', missing: 'rescue' },
  unrescue: { event: 'unrescue', since: 38, does: 'later', missing: 'rescue' },
} as const satisfies Record<string, VerbRow>;

export type Verb = keyof typeof verbs;

/** Whether a text is one of the verbs. */
export const isVerb = (text: string): text is Verb => Object.hasOwn(verbs, text);

/** A verb's row with every optional column present in its type. */
export const verbRow = (verb: Verb): VerbRow => verbs[verb];
