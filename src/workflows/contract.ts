/** Workflow interface for other rooms: ids, queues, search attributes and messages. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { NodeUuid, RolloutUuid, RunUuid } from '../model/ids';
import type { ProvisionState } from '../model/lifecycle/states';
import type { Awaited, PlannedStep } from '../model/lifecycle/step-types';
import type { RunEnding, RunState } from '../model/runs/runs';

/** Prefix of queue names; installations that share a namespace use different ones. */
const defaultPrefix = 'temper';

/** The queue of workflows and of database activities. */
export const controlQueue = (prefix = defaultPrefix): string => `${prefix}-control`;

/** The queue of a conductor group's workers. Only they reach its BMCs. */
export const groupQueue = (group: string, prefix = defaultPrefix): string =>
  `${prefix}-bmc.${group === '' ? 'default' : group}`;

/** The id contains the run, so that two runs of a node never share one. */
export const workflowId = (node: NodeUuid, verb: string, run: RunUuid): string => `node-${node}.${verb}.${run}`;

/** Node and run of a run's workflow id; undefined for other workflows. */
export const partsOfId = (id: string): { readonly node: NodeUuid; readonly run: RunUuid } | undefined => {
  const found = /^node-([0-9a-f-]{36})\.[a-z-]+\.([0-9a-f-]{36})$/.exec(id);
  return found ? { node: found[1] as NodeUuid, run: found[2] as RunUuid } : undefined;
};

/** Workflow id of a read. The request id makes it unique. */
export const callId = (node: NodeUuid, requestId: string): string => `node-${node}.call.${requestId}`;

/** Id of the schedule that carries Temporal's mark, and of the workflow that it starts; one per installation in a namespace. */
export const reconcileId = (prefix = defaultPrefix): string =>
  prefix === defaultPrefix ? 'reconcile' : `${prefix}-reconcile`;

export const rolloutId = (rollout: string): string => `rollout-${rollout}`;

/** Only the id; the rest is in PostgreSQL. */
export type RolloutInput = { readonly rollout: RolloutUuid };

/** Search attributes of runs. They are registered before the first worker starts, and contain no secrets. */
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

/** Progress of a run from the workflow's own state. */
export type Progress = {
  readonly verb: string;
  readonly state: RunState;
  /** Index of the current step; `total` when all are done. */
  readonly cursor: number;
  readonly total: number;
  readonly step: string | null;
  readonly waitingFor: string | null;
  readonly parked: boolean;
  readonly abortAsked: boolean;
  readonly run: string;
  readonly node: { readonly uuid: string; readonly name: string | null };
  /** Provision state of the node after this run's moves. Null for a run that an older release accepted, until it moves the node. */
  readonly provision_state: ProvisionState | null;
  /** The target state of the node; null once it is reached. */
  readonly target_provision_state: ProvisionState | null;
  /** Attempt of the current act, as in the run's record and in the step's `attempt` of the API. */
  readonly attempt: number;
};

/** The state that the run has recorded in PostgreSQL so far. A restored database may lack part of it. */
export type Projected = {
  /** Sequence number of its last confirmed record. */
  readonly seq: number;
  readonly state: RunState;
  readonly cursor: number;
  readonly waitingFor: string | null;
  /** The reason why it is parked. */
  readonly error: string | null;
  readonly provision_state: ProvisionState | null;
  /** The current plan, including the clean-up at the end. */
  readonly steps: readonly PlannedStep[];
  /** The outcome, set before the clean-up. */
  readonly ending: RunEnding | null;
  /** The event from the ramdisk that it awaits. */
  readonly awaits: Awaited | null;
  /** Sequence number of its last wait for the ramdisk. A database with an older one has another boot, or none. */
  readonly contactSeq: number;
};

/** `operationId` is the run's id; a message for another run is ignored. `requestId` makes repeats idempotent. */
export type Message = {
  readonly operationId: RunUuid;
  readonly requestId: string;
  readonly by: string;
  readonly via?: Via;
  /** The step that the sender saw; a message for an earlier step is ignored. */
  readonly cursor?: number;
};

/** `via` means that the API has checked and recorded it. Without it, the message came from Temporal's tools. */
export type Decision = {
  readonly cursor: number;
  readonly by: string;
  readonly reason: string;
  readonly via?: Via;
  /** New arguments for the retry, already checked and sealed. */
  readonly args?: Readonly<Record<string, unknown>>;
};
export type Via = 'api';

/**
 * An outside event for a waiting run: the ramdisk called back, a freeze ended, or a restore lost the ramdisk.
 * The API rejects what a lost ramdisk sends.
 */
export type Contact = { readonly operationId: RunUuid; readonly contactId: string; readonly kind: ContactKind };
export type ContactKind = 'heartbeat' | 'inspection' | 'thaw' | 'lost';

/** A further attempt of an act has begun. `nth` counts the acts of this execution; a report of another act is ignored. */
export type ActTried = { readonly operationId: RunUuid; readonly nth: number; readonly attempt: number };

/** Something has changed that the rollout's workflow has to check. */
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
