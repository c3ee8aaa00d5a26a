/** Workflow interface for other rooms: ids, queues, search attributes, messages. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { NodeUuid, RolloutUuid, RunUuid } from '../model/ids';
import type { ProvisionState } from '../model/lifecycle/states';
import type { Awaited, PlannedStep } from '../model/lifecycle/step-types';
import type { RunEnding, RunState } from '../model/runs/runs';

/** Installations that share a namespace use different prefixes. */
const defaultPrefix = 'temper';

/** Queue of workflows and database activities. */
export const controlQueue = (prefix = defaultPrefix): string => `${prefix}-control`;

/** Queue of a conductor group's workers. Only they reach its BMCs. */
export const groupQueue = (group: string, prefix = defaultPrefix): string =>
  `${prefix}-bmc.${group === '' ? 'default' : group}`;

/** Two runs of a node never share an id. */
export const workflowId = (node: NodeUuid, verb: string, run: RunUuid): string => `node-${node}.${verb}.${run}`;

/** Undefined for workflows of other kinds. */
export const partsOfId = (id: string): { readonly node: NodeUuid; readonly run: RunUuid } | undefined => {
  const found = /^node-([0-9a-f-]{36})\.[a-z-]+\.([0-9a-f-]{36})$/.exec(id);
  return found ? { node: found[1] as NodeUuid, run: found[2] as RunUuid } : undefined;
};

/** The request id makes it unique. */
export const callId = (node: NodeUuid, requestId: string): string => `node-${node}.call.${requestId}`;

/** Id of the schedule with Temporal's mark; one per installation in a namespace. */
export const reconcileId = (prefix = defaultPrefix): string =>
  prefix === defaultPrefix ? 'reconcile' : `${prefix}-reconcile`;

export const rolloutId = (rollout: string): string => `rollout-${rollout}`;

export type RolloutInput = { readonly rollout: RolloutUuid };

/** Search attributes must be registered before the first worker starts. They contain no secrets. */
export const attributes = {
  nodeUuid: defineSearchAttributeKey('TemperNodeUuid', SearchAttributeType.KEYWORD),
  nodeName: defineSearchAttributeKey('TemperNodeName', SearchAttributeType.KEYWORD),
  owner: defineSearchAttributeKey('TemperOwner', SearchAttributeType.KEYWORD),
  lessee: defineSearchAttributeKey('TemperLessee', SearchAttributeType.KEYWORD),
  verb: defineSearchAttributeKey('TemperVerb', SearchAttributeType.KEYWORD),
  provisionState: defineSearchAttributeKey('TemperProvisionState', SearchAttributeType.KEYWORD),
  runbook: defineSearchAttributeKey('TemperRunbook', SearchAttributeType.KEYWORD),
  conductorGroup: defineSearchAttributeKey('TemperConductorGroup', SearchAttributeType.KEYWORD),
  requester: defineSearchAttributeKey('TemperRequester', SearchAttributeType.KEYWORD),
  paused: defineSearchAttributeKey('TemperPaused', SearchAttributeType.BOOL),
  deadline: defineSearchAttributeKey('TemperDeadline', SearchAttributeType.DATETIME),
  stepIndex: defineSearchAttributeKey('TemperStepIndex', SearchAttributeType.INT),
  traits: defineSearchAttributeKey('TemperTraits', SearchAttributeType.KEYWORD_LIST),
} as const;

export type Progress = {
  readonly verb: string;
  readonly state: RunState;
  /** `total` when all are done. */
  readonly cursor: number;
  readonly total: number;
  readonly step: string | null;
  readonly waitingFor: string | null;
  readonly parked: boolean;
  readonly abortAsked: boolean;
  readonly run: string;
  readonly node: { readonly uuid: string; readonly name: string | null };
  /** State after this run's moves. Null until the first move if an older release accepted the run. */
  readonly provision_state: ProvisionState | null;
  /** Null once it is reached. */
  readonly target_provision_state: ProvisionState | null;
  /** As in the step's `attempt` of the API. */
  readonly attempt: number;
};

/** State of the run as recorded in PostgreSQL. A restored database may lack part of it. */
export type Projected = {
  /** Sequence number of the last confirmed record. */
  readonly seq: number;
  readonly state: RunState;
  readonly cursor: number;
  readonly waitingFor: string | null;
  /** Set while parked. */
  readonly error: string | null;
  readonly provision_state: ProvisionState | null;
  /** Includes the clean-up. */
  readonly steps: readonly PlannedStep[];
  /** Set before the clean-up. */
  readonly ending: RunEnding | null;
  readonly awaits: Awaited | null;
  /** Sequence number of the last wait for the ramdisk. A database with an older one has another boot, or none. */
  readonly contactSeq: number;
};

/** `operationId` is the run's id; messages for other runs are ignored. `requestId` makes repeats idempotent. */
export type Message = {
  readonly operationId: RunUuid;
  readonly requestId: string;
  readonly by: string;
  readonly via?: Via;
  /** The step that the sender saw; a message for an earlier step is ignored. */
  readonly cursor?: number;
};

/** `via`: the API has checked and recorded it. Otherwise it came from Temporal's tools. */
export type Decision = {
  readonly cursor: number;
  readonly by: string;
  readonly reason: string;
  readonly via?: Via;
  /** For a retry; checked and sealed. */
  readonly args?: Readonly<Record<string, unknown>>;
};
export type Via = 'api';

/** An outside event for a waiting run. `lost`: a restore lost the ramdisk, and the API rejects what it sends. */
export type Contact = { readonly operationId: RunUuid; readonly contactId: string; readonly kind: ContactKind };
export type ContactKind = 'heartbeat' | 'inspection' | 'unfreeze' | 'lost';

/** A further attempt of an act. `nth` counts the acts of this execution; other reports are ignored. */
export type ActTried = { readonly operationId: RunUuid; readonly nth: number; readonly attempt: number };

export const wakeSignal = defineSignal('wake');
export const progressQuery = defineQuery<Progress>('progress');
export const projectedQuery = defineQuery<Projected>('projected');
export const planQuery = defineQuery<readonly PlannedStep[]>('plan');
export const abortSignal = defineSignal<[Message]>('abort');
export const agentContact = defineSignal<[Contact]>('agentContact');
export const actTried = defineSignal<[ActTried]>('actTried');
export const unholdSignal = defineSignal<[Message]>('unhold');
export const retryStep = defineUpdate<void, [Decision]>('retryStep');
export const skipStep = defineUpdate<void, [Decision]>('skipStep');
export const failOperation = defineUpdate<void, [Decision]>('failOperation');
export const setPaused = defineUpdate<void, [{ readonly paused: boolean; readonly by: string; readonly via?: Via }]>(
  'setPaused',
);
