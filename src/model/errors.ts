/** The closed list of errors, with texts for callers and facts for the log. */

type ErrorRow = {
  readonly status: number;
  /** True if Temporal retries the failed activity. */
  readonly retry: boolean;
  /** The last attempt in spite of `retry`: a persistent wrong answer is unlikely to change. */
  readonly attempts?: number;
  /** Text for the caller, without secrets or stacks. `{name}` is filled from the facts. */
  readonly says: string;
};

export const errors = {
  MalformedBody: { status: 400, retry: false, says: 'The request body is not valid JSON: {reason}.' },
  UnreadableBody: { status: 400, retry: false, says: 'The request body could not be read: {reason}.' },
  BodyTooDeep: { status: 400, retry: false, says: 'The request body is nested deeper than {limit} levels.' },
  BodyTooLarge: { status: 413, retry: false, says: 'The request body is larger than {limit} bytes.' },
  TooManyAtOnce: {
    status: 503,
    retry: true,
    says: 'Too many requests of one sender, or of all senders together, are being read at once. Try again shortly.',
  },
  EncodingRefused: {
    status: 415,
    retry: false,
    says: 'This request accepts no Content-Encoding. Send the body unencoded.',
  },
  BodyTooManyValues: { status: 400, retry: false, says: 'The request body holds more than {limit} values.' },
  InvalidInput: { status: 400, retry: false, says: '{field}: {reason}' },
  UnexpectedArguments: { status: 400, retry: false, says: 'Unexpected arguments: {names}.' },
  InvalidPatch: { status: 400, retry: false, says: "Couldn't apply patch: {reason}" },
  NotAcceptable: { status: 406, retry: false, says: '{reason}' },
  UnsupportedVersion: {
    status: 406,
    retry: false,
    says: 'Version {version} is not supported. Supported versions are {min} to {max}.',
  },
  PathNotFound: { status: 404, retry: false, says: 'The resource could not be found.' },
  IdempotencyUnderWay: {
    status: 409,
    retry: true,
    says: 'An earlier request with this Idempotency-Key is still being served. Send it again in {seconds} s.',
  },
  IdempotencyKeyReused: {
    status: 422,
    retry: false,
    says: 'You used this Idempotency-Key for another request: its method, path, API version or body, or your roles, differ. Use a new key for new work.',
  },
  TooManyKeys: {
    status: 429,
    retry: true,
    says: 'You have {limit} stored answers to requests with an Idempotency-Key, which is the limit; a long answer counts once for each 10 KiB. Send the request without a key, or try again in {seconds} s.',
  },
  TooManyRequests: {
    status: 429,
    retry: true,
    says: 'Too many requests: {limit} a minute are served to one caller. Try again in {seconds} s.',
  },
  TooManyBulkChanges: {
    status: 429,
    retry: true,
    says: '{limit} of your changes of many nodes wait already, which is the limit. Try again in {seconds} s.',
  },
  MethodNotAllowed: { status: 405, retry: false, says: 'Method {method} is not offered at this path.' },
  Unexpected: {
    status: 500,
    retry: true,
    says: 'An unexpected error occurred. The log has the details under request {request_id}; give that ID to the operator.',
  },

  // Identity and permissions.
  EngineUnavailable: {
    status: 503,
    retry: true,
    says: 'Temporal or its worker does not answer; nothing was changed. Try again shortly.',
  },
  StoreUnavailable: {
    status: 503,
    retry: true,
    says: 'The database does not answer. Try again shortly, and look first whether your change was made.',
  },
  StoreContended: {
    status: 503,
    retry: true,
    says: 'The database undid your change, because it and other changes waited for each other. Send the request again in {seconds} s.',
  },
  Recovering: {
    status: 503,
    retry: true,
    says: 'Changes are refused during a recovery: {reason}. You can still read. An administrator ends the recovery with `temper recover --yes`.',
  },
  ActUnanswered: {
    status: 503,
    retry: true,
    says: 'The run did not answer in time. Your request is recorded and may still take effect. Look at the run before you ask again.',
  },
  Unauthenticated: { status: 401, retry: false, says: 'The request you have made requires authentication.' },
  IdentityUnavailable: { status: 503, retry: true, says: 'The identity service did not answer; try again shortly.' },
  PolicyDenied: { status: 403, retry: false, says: 'Access was denied to the following resource: {rule}' },
  /** With a hint for the caller. */
  PolicyDeniedFor: {
    status: 403,
    retry: false,
    says: 'Access was denied to the following resource: {rule}. {reason}',
  },
  Forbidden: { status: 403, retry: false, says: '{reason}' },
  IdentityFileInvalid: { status: 500, retry: false, says: 'The identity file {file} cannot be used: {reason}' },
  NoShadowPolicy: {
    status: 404,
    retry: false,
    says: 'There is no second policy here: TEMPER_POLICY_SHADOW_FILE is not set.',
  },
  PolicyInvalid: { status: 500, retry: false, says: 'The policy could not be loaded: {reason}' },

  NodeNotFound: { status: 404, retry: false, says: 'Node {node} could not be found.' },
  PortNotFound: { status: 404, retry: false, says: 'Port {port} could not be found.' },
  PortgroupNotFound: { status: 404, retry: false, says: 'Portgroup {portgroup} could not be found.' },
  ChassisNotFound: { status: 404, retry: false, says: 'Chassis {chassis} could not be found.' },
  VolumeConnectorNotFound: {
    status: 404,
    retry: false,
    says: 'Volume connector {volume_connector} could not be found.',
  },
  VolumeTargetNotFound: { status: 404, retry: false, says: 'Volume target {volume_target} could not be found.' },
  DeployTemplateNotFound: { status: 404, retry: false, says: 'Deploy template {deploy_template} could not be found.' },
  InspectionRuleNotFound: { status: 404, retry: false, says: 'Inspection rule {inspection_rule} could not be found.' },
  RunbookNotFound: { status: 404, retry: false, says: 'Runbook {runbook} could not be found.' },
  RevisionNotFound: { status: 404, retry: false, says: 'Runbook {runbook} has no revision {revision}.' },
  RevisionWithdrawn: {
    status: 409,
    retry: false,
    says: 'Revision {revision} of runbook {runbook} was withdrawn and cannot be run: {reason}. Change the runbook, or use another.',
  },
  RolloutNotFound: { status: 404, retry: false, says: 'Rollout {rollout} could not be found.' },
  RolloutNotApproved: {
    status: 409,
    retry: false,
    says: 'Rollout {rollout} is approved by {approved} of {wanted} users. Rule temper:rollout:start_alone does not let you start it without the others.',
  },
  NothingToDo: {
    status: 409,
    retry: false,
    says: 'The plan would have no effect, because none of the {selected} selected nodes would run.{reasons}',
  },
  AllocationNotFound: { status: 404, retry: false, says: 'Allocation {allocation} could not be found.' },
  NodeUnallocated: { status: 404, retry: false, says: 'Node {node} has no allocation.' },
  RunNotFound: { status: 404, retry: false, says: 'Run {run} could not be found.' },
  QuotaExceeded: {
    status: 429,
    retry: true,
    says: 'Project {project} has {limit} {counts}, which is its quota ({quota}). {remedy}, or ask an operator to raise {setting}.',
  },
  TooManyStreams: {
    status: 503,
    retry: true,
    says: 'There are {limit} event streams {whose}, which is the limit. Close one, or try again later.',
  },
  HistoryNotFound: { status: 404, retry: false, says: 'Node {node} has no history event {event}.' },
  DisruptionBudgetNotFound: { status: 404, retry: false, says: 'Disruption budget {budget} could not be found.' },
  WindowNotFound: { status: 404, retry: false, says: 'Window {window} could not be found.' },
  WebhookNotFound: { status: 404, retry: false, says: 'Webhook {webhook} could not be found.' },
  WebhookTargetRefused: {
    status: 400,
    retry: false,
    says: 'Webhooks may not be sent to {target}: {reason}',
  },
  DriverNotFound: { status: 404, retry: false, says: 'The following driver is not known or has no worker: {driver}.' },
  BiosSettingNotFound: { status: 404, retry: false, says: 'Node {node} has no BIOS setting {setting} on record.' },
  InventoryNotFound: { status: 404, retry: false, says: 'Node {node} has no inventory on record; inspect it first.' },
  DriverWithoutRaid: { status: 404, retry: false, says: 'Driver {driver} does not offer RAID.' },
  ConductorNotFound: { status: 404, retry: false, says: 'Conductor {conductor} could not be found.' },
  TraitNotFound: { status: 404, retry: false, says: 'Node {node} has no trait {trait}.' },
  MarkerNotFound: { status: 404, retry: false, says: 'The marker {marker} could not be found.' },
  Duplicate: { status: 409, retry: false, says: 'A {resource} with {field} {value} already exists.' },
  NodeLocked: { status: 409, retry: true, says: 'Node {node} is busy; try again when its run ends.' },
  // Not 409: Nova takes every conflict of an attachment for a VIF that is attached (nova/virt/ironic/driver.py).
  NodeLockedByRun: {
    status: 503,
    retry: true,
    says: 'Node {node} is locked by a run, and its VIFs stay as they are until the run ends. Try again shortly.',
  },
  VifAlreadyAttached: {
    status: 409,
    retry: false,
    says: 'Unable to attach VIF because VIF {vif} is already attached to Ironic {object} {uuid}. Detach it first.',
  },
  NoFreePhysicalPorts: {
    status: 400,
    retry: false,
    says: 'Unable to attach VIF {vif}, not enough free physical ports. Detach another VIF, or name a free port.',
  },
  VifNotAttached: {
    status: 400,
    retry: false,
    says: 'Unable to detach VIF {vif} from node {node} because it is not attached to it. List the VIFs of the node.',
  },
  // The run itself waits for the end of a freeze, so Temporal must not retry meanwhile.
  NodeFrozen: {
    status: 409,
    retry: false,
    says: 'Node {node} is frozen by {who} {until}: {reason} (freeze {freeze}). You can still read it; nothing is written to its BMC until the freeze ends.',
  },
  RecoveryPending: {
    status: 503,
    retry: false,
    says: 'Nothing is written to the BMC of node {node} until an administrator ends the recovery (temper recover): {reason}.',
  },
  FreezeNotFound: { status: 404, retry: false, says: 'Freeze {freeze} could not be found.' },
  NodeAssociated: { status: 409, retry: false, says: 'Node {node} is associated with instance {instance}.' },
  Conflict: { status: 409, retry: false, says: '{reason}' },
  NodeProtected: { status: 403, retry: false, says: 'Node {node} is protected and may not be deleted or rebuilt.' },

  InvalidState: {
    status: 400,
    retry: false,
    says: 'The requested action "{verb}" can not be performed on node "{node}" while it is in state "{state}".{instead}',
  },
  NodeInMaintenance: {
    status: 400,
    retry: false,
    says: 'The {verb} operation is not possible while node {node} is in maintenance mode.{way}',
  },
  NodeRetired: { status: 400, retry: false, says: 'Node {node} is retired and cannot become available.' },
  InvalidSteps: { status: 400, retry: false, says: '{reason}' },
  RamdiskNeeded: {
    status: 400,
    retry: false,
    says: 'Step {step} runs in the ramdisk, which deploy interface {deploy} does not boot. Give the node deploy interface direct, or use out-of-band steps.',
  },
  FirmwareCurrent: { status: 409, retry: false, says: 'There is nothing to do on node {node}: {reason}.' },
  ParameterInvalid: {
    status: 400,
    retry: false,
    says: 'Parameter {parameter} of runbook {runbook} {reason}',
  },
  RunbookTraitMissing: {
    status: 400,
    retry: false,
    says: 'Runbook {runbook} is not approved for node {node}: the node needs {wanted}.',
  },
  DriverUnsupported: { status: 400, retry: false, says: 'Driver {driver} does not support {what}.' },
  DriverInfoInvalid: { status: 400, retry: false, says: 'Node {node}: driver_info {field} {reason}.' },
  InstanceInfoInvalid: { status: 400, retry: false, says: 'Node {node}: instance_info {reason}.' },
  BmcAddressRefused: {
    status: 400,
    retry: false,
    says: 'The BMC address {address} is outside the networks that the operator allows. Ask an operator to add it to TEMPER_BMC_NETWORKS.',
  },
  NoWorker: {
    status: 503,
    retry: true,
    says: 'No worker is online for conductor group "{group}" with driver {driver}; try again later.',
  },
  NoConsoleWorker: {
    status: 503,
    retry: true,
    says: 'No online BMC worker of conductor group "{group}" with driver {driver} reads serial lines. An operator must set TEMPER_SERIAL_CONSOLE_PUBLIC_URL on one.',
  },

  OriginRefused: { status: 400, retry: false, says: 'Nothing is fetched from {origin}: {reason}.' },

  StaleOperation: { status: 409, retry: false, says: 'Node {node} is no longer held by run {run}.' },
  RunFailed: { status: 500, retry: false, says: '{reason}' },
  CallTimeout: { status: 504, retry: true, says: 'Node {node} has not answered within {seconds} seconds; {outcome}.' },

  BmcAuthFailed: {
    status: 502,
    retry: false,
    says: 'The BMC of node {node} at {bmc} refused the credentials on record.',
  },
  CommandLate: {
    status: 503,
    retry: true,
    says: 'A command for node {node} at {to} was not sent, because too much time had passed since its intent was recorded. The next attempt reads the state first. If connecting takes long, raise TEMPER_SETTLE_MS.',
  },
  BmcUnreachable: { status: 502, retry: true, says: 'The BMC of node {node} at {bmc} did not answer: {reason}.' },
  BmcServerError: { status: 502, retry: true, says: 'The BMC of node {node} at {bmc} answered {status}: {reason}' },
  BmcBusy: { status: 502, retry: true, says: 'The BMC of node {node} at {bmc} is busy ({status}): {reason}' },
  BmcRejected: {
    status: 502,
    retry: false,
    says: 'The BMC of node {node} at {bmc} refused {what} ({status}): {reason}',
  },
  BmcUnsupported: { status: 400, retry: false, says: 'The BMC of node {node} at {bmc} does not offer {what}.' },
  SubscriptionNotFound: {
    status: 404,
    retry: false,
    says: 'The BMC of node {node} at {bmc} has no event subscription {id}.',
  },
  ProgramMissing: {
    status: 503,
    retry: false,
    says: 'The program {program} cannot be run on this worker; install it on every BMC worker (Debian: apt-get install {package}).',
  },
  BmcTlsFailed: {
    status: 502,
    retry: false,
    says: 'The certificate of the BMC of node {node} at {bmc} could not be verified: {reason}.',
  },
  BmcLeaseHeld: { status: 409, retry: true, says: 'The BMC {bmc} is in use by another worker.' },
  BmcResting: {
    status: 503,
    retry: true,
    says: 'The BMC {bmc} did not answer {failures} times in a row. It gets no requests for {seconds} s; last: {reason}',
  },
  BmcWrongSystem: {
    status: 400,
    retry: false,
    says: 'The BMC of node {node} at {bmc} shows system {found}, but redfish_system_uuid in driver_info says {wanted}. Nothing was changed on it. Correct redfish_address or redfish_system_uuid.',
  },
  BmcTimeout: {
    status: 504,
    retry: true,
    says: 'The BMC of node {node} at {bmc} was asked for {what} but did not reach it in time; last seen: {seen}.',
  },
  BmcStuck: {
    status: 504,
    retry: false,
    says: 'The BMC of node {node} at {bmc} was asked for {what} and did not reach it in the time allowed; last seen: {seen}. Look at the node before you try again.',
  },
  BmcJobFailed: {
    status: 502,
    retry: false,
    says: 'The BMC of node {node} at {bmc} accepted the job {what}, and it failed: {reason}',
  },
  BmcJobEndless: {
    status: 504,
    retry: false,
    says: 'The BMC of node {node} at {bmc} accepted the job {what} {minutes} minutes ago and has not ended it; last seen: {seen}. Reset the BMC (step management.reset_bmc) and look at the node before you try again.',
  },

  AgentUnreachable: {
    status: 502,
    retry: true,
    says: 'The ramdisk of node {node} at {agent} did not answer: {reason}.',
  },
  AgentGone: {
    status: 504,
    retry: false,
    says: 'The ramdisk of node {node} disappeared during {step}: {seen}.',
  },
  AgentServerError: {
    status: 502,
    retry: true,
    attempts: 6,
    says: 'The ramdisk of node {node} at {agent} answered {status}: {reason}',
  },
  AgentBusy: { status: 502, retry: true, says: 'The ramdisk of node {node} at {agent} is busy: {reason}' },
  AgentAuthFailed: {
    status: 502,
    retry: false,
    says: 'The ramdisk of node {node} at {agent} refused the token on record; boot the node again.',
  },
  AgentRejected: {
    status: 502,
    retry: false,
    says: 'The ramdisk of node {node} at {agent} refused {what} ({status}): {reason}',
  },
  AgentTlsFailed: {
    status: 502,
    retry: false,
    says: 'The ramdisk of node {node} at {agent} did not present the certificate that it announced: {reason}.',
  },
  AgentAddressRefused: {
    status: 400,
    retry: false,
    says: 'The ramdisk address {address} is outside the networks that the operator allows. Ask an operator to add it to TEMPER_AGENT_NETWORKS.',
  },
  RamdiskConflict: {
    status: 409,
    retry: false,
    says: 'Two ramdisks answered for node {node}: one had its token, and another called from another address. The answers of both were discarded. Find out which machine uses the addresses of the ports of the node. Then clear its maintenance and start it again.',
  },
  RamdiskNotFound: { status: 404, retry: false, says: 'Ramdisk {ramdisk} could not be found.' },
  RamdiskInUse: {
    status: 409,
    retry: false,
    says: 'Node {node} is booting from ramdisk {ramdisk}. Remove it after that run has ended.',
  },
  RamdiskNotServed: {
    status: 503,
    retry: false,
    says: 'Ramdisk {ramdisk} cannot be booted from: {reason}.',
  },
  ImageNotFound: { status: 404, retry: false, says: 'Image {image} could not be found.' },
  ImageInUse: {
    status: 409,
    retry: false,
    says: 'Image {image} is being written to node {node}. Remove it after that run has ended.',
  },
  ImageNotServed: { status: 503, retry: false, says: 'Image {image} cannot be written: {reason}.' },
  /** Nova reads the first word: it ends the build, instead of trying the next host. */
  InvalidImage: { status: 400, retry: false, says: 'InvalidImage: image {image} of Glance {reason}.' },
  GlanceUnavailable: {
    status: 503,
    retry: true,
    says: 'Image {image} could not be looked up at Glance: {reason}. Try again shortly.',
  },
  BootServiceAway: { status: 503, retry: true, says: 'The boot service at {url} did not answer: {reason}.' },
  KernelArgumentsRefused: { status: 400, retry: false, says: 'The list of kernel arguments of the ramdisk {reason}.' },
  NetworkDataRefused: { status: 400, retry: false, says: 'The network_data of the node cannot be used: {reason}.' },
  DiscoveredMachineNotFound: {
    status: 404,
    retry: false,
    says: 'Discovered machine {machine} could not be found.',
  },
  // The agent retries after a 5xx and a 409, hence 400: openstack/ironic-python-agent:ironic_python_agent/inspector.py
  DiscoveryRefused: {
    status: 400,
    retry: false,
    says: 'The machine is not recorded: {reason}.',
  },
  DiscoveryTooLong: {
    status: 400,
    retry: false,
    says: 'The machine is not recorded: its inventory has {bytes} bytes; the limit is {most}.',
  },
  RamdiskTooEarly: {
    status: 503,
    retry: true,
    says: 'No ramdisk is expected yet; try again shortly.',
  },
  ConfigDriveFailed: {
    status: 500,
    retry: false,
    says: 'The config drive of node {node} cannot be built: {reason}',
  },
  InspectionRuleFailed: { status: 400, retry: false, says: 'Inspection rule {rule}: {reason}' },
  InvalidStepArgs: { status: 400, retry: false, says: 'Step {step}: {reason}' },
  StepRejected: { status: 400, retry: false, says: 'Step {step} was refused: {reason}' },
  SecretMissing: {
    status: 500,
    retry: false,
    says: 'A secret that this operation needs is no longer stored. Give the secret again, and repeat the operation.',
  },
  SecretKeyMissing: {
    status: 500,
    retry: true,
    says: 'A secret that this operation needs is sealed to key {key}, which the worker does not hold. A worker that holds it can seal it again: temper secrets reseal.',
  },
  SecretMisplaced: {
    status: 409,
    retry: false,
    says: 'The secret at {field} of node {node} was given for another place, and is not used there. Give it again.',
  },
  CredentialsMoved: {
    status: 409,
    retry: false,
    says: 'The stored credentials of node {node} were given for another BMC ({field} has changed since), and are not sent to this one. Give them again, or ask an operator to move them at a worker: temper secrets move {node}.',
  },
  StepOutcomeUnknown: {
    status: 500,
    retry: false,
    says: 'Step {step} was sent, but whether it took effect cannot be known: {reason}',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;
export type Facts = Readonly<Record<string, unknown>>;

/** Compare `code`, not the class: class identity survives neither the workflow sandbox nor serialization. */
export class TemperError extends Error {
  override readonly name = 'TemperError';
  constructor(
    readonly code: ErrorCode,
    readonly facts: Facts = {},
    options?: { cause?: unknown },
  ) {
    super(say(code, facts), options);
  }
  get status(): number {
    return errors[this.code].status;
  }
  get retry(): boolean {
    return errors[this.code].retry;
  }
  /** @param attempt counted from 1 */
  retryAfter(attempt: number): boolean {
    const { retry, attempts }: ErrorRow = errors[this.code];
    return retry && (attempts === undefined || attempt < attempts);
  }
}

/** Optional facts, each rendered as a sentence after a blank or as nothing. */
const additions: readonly string[] = ['instead', 'way'];

export const say = (code: ErrorCode, facts: Facts = {}): string =>
  errors[code].says.replace(/\{(\w+)\}/g, (_, key: string) => {
    if (facts[key] !== undefined) return additions.includes(key) ? ` ${facts[key]}` : String(facts[key]);
    return additions.includes(key) ? '' : `{${key}}`;
  });

/** It may hold secrets. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Its type `never` lets it end an expression. */
export const raise = (code: ErrorCode, facts: Facts = {}, options?: { cause?: unknown }): never => {
  throw new TemperError(code, facts, options);
};

/** Throws InvalidInput. */
export const invalidInput = (field: string, reason: string): never => raise('InvalidInput', { field, reason });

export const isTemperError = (thrown: unknown, code?: ErrorCode): thrown is TemperError =>
  thrown instanceof Error &&
  thrown.name === 'TemperError' &&
  (code === undefined || (thrown as TemperError).code === code);

/** For the end of a switch over a union: a new case fails to compile here. */
export const unreachable = (value: never): never => {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
};
