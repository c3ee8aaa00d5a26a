/** The only door from outside: ids, queues, search attributes, and the messages a run understands. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { NodeUuid, RolloutUuid, RunUuid } from '../model/ids';
import type { ProvisionState } from '../model/lifecycle/states';
import type { Awaited, PlannedStep } from '../model/lifecycle/step-types';
import type { RunEnding, RunState } from '../model/runs/runs';

/** First part of queue names; another one separates installations that share a namespace. */
const defaultPrefix = 'temper';

/** The queue of workflows and of activities on the store. */
export const controlQueue = (prefix = defaultPrefix): string => `${prefix}-control`;

/** The queue of one conductor group's workers, the only ones that reach its BMCs. */
export const groupQueue = (group: string, prefix = defaultPrefix): string =>
  `${prefix}-bmc.${group === '' ? 'default' : group}`;

/** Ids name node, verb and run, so that two runs of one node never share one. */
export const workflowId = (node: NodeUuid, verb: string, run: RunUuid): string => `node-${node}.${verb}.${run}`;

/** The node and the run that the id of a run's workflow names; undefined where it is another's. */
export const partsOfId = (id: string): { readonly node: NodeUuid; readonly run: RunUuid } | undefined => {
  const found = /^node-([0-9a-f-]{36})\.[a-z-]+\.([0-9a-f-]{36})$/.exec(id);
  return found ? { node: found[1] as NodeUuid, run: found[2] as RunUuid } : undefined;
};

/** Id of a read whose caller waits; the request's id makes it one. */
export const callId = (node: NodeUuid, requestId: string): string => `node-${node}.call.${requestId}`;

/** Id of the schedule that carries the engine's mark, and of the workflow that it starts; one for each installation in a namespace. */
export const reconcileId = (prefix = defaultPrefix): string =>
  prefix === defaultPrefix ? 'reconcile' : `${prefix}-reconcile`;

/** Id of the workflow that sees to a rollout. */
export const rolloutId = (rollout: string): string => `rollout-${rollout}`;

/** All that a rollout's workflow knows: the store has the rest. */
export type RolloutInput = { readonly rollout: RolloutUuid };

/** What operators can filter runs by; registered on the server before the first worker starts. Nothing secret. */
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

/** Where a run is, as the workflow itself knows it. */
export type Progress = {
  readonly verb: string;
  readonly state: RunState;
  /** Index of the step it is in; `total` when all are done. */
  readonly cursor: number;
  readonly total: number;
  readonly step: string | null;
  readonly waitingFor: string | null;
  readonly parked: boolean;
  readonly abortAsked: boolean;
  /** The run's own id. */
  readonly run: string;
  readonly node: { readonly uuid: string; readonly name: string | null };
  /** Of the node, as far as this run has moved it; null for a run that an older release accepted, until it moves the node. */
  readonly provision_state: ProvisionState | null;
  /** Where the run is to bring it; null once it is there. */
  readonly target_provision_state: ProvisionState | null;
  /** Which attempt of the act that is under way: what the run's record and the API have as the step's `attempt`. */
  readonly attempt: number;
};

/** What the run has had recorded in the store so far: more than a store knows that was set back to a backup. */
export type Projected = {
  /** Counter of its last record that the store has confirmed. */
  readonly seq: number;
  readonly state: RunState;
  readonly cursor: number;
  readonly waitingFor: string | null;
  /** Why it is parked. */
  readonly error: string | null;
  readonly provision_state: ProvisionState | null;
  /** The plan as it is now, with what is tidied at the end. */
  readonly steps: readonly PlannedStep[];
  /** How it ends, once it tidies up. */
  readonly ending: RunEnding | null;
  /** What it waits for from the ramdisk now. */
  readonly awaits: Awaited | null;
  /** Counter of the record with which it last began to wait for the ramdisk: a store of before that knows another boot, or none. */
  readonly contactSeq: number;
};

/** `operationId` is the run's id; a message for another run is ignored. `requestId` makes a repeat harmless. */
export type Message = {
  readonly operationId: RunUuid;
  readonly requestId: string;
  readonly by: string;
  readonly via?: Via;
  /** The step that the sender saw the run in; a message for an earlier one is ignored. */
  readonly cursor?: number;
};

/** `via` says that the API has checked and recorded it; without, it came by the engine's own tools. */
export type Decision = {
  readonly cursor: number;
  readonly by: string;
  readonly reason: string;
  readonly via?: Via;
  /** The step is tried again with these; already checked and sealed. */
  readonly args?: Readonly<Record<string, unknown>>;
};
export type Via = 'api';

/**
 * Something outside happened that a waiting run should look at: the ramdisk called back, a freeze ended, or the store has lost the
 * ramdisk in a restore, so that nothing that it sends is taken any more.
 */
export type Contact = { readonly operationId: RunUuid; readonly contactId: string; readonly kind: ContactKind };
export type ContactKind = 'heartbeat' | 'inspection' | 'thaw' | 'lost';

/** A further attempt of an act has begun. `nth` says of which act of this execution; a message for another one is ignored. */
export type ActTried = { readonly operationId: RunUuid; readonly nth: number; readonly attempt: number };

/** Something has happened that a rollout's workflow is to look at. */
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
