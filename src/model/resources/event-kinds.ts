/** Every kind of event, with facts for its readers. */
type KindFacts = {
  /** Ends the run and its stream. */
  readonly ends?: true;
  /** A rollout's state, which tenants of its nodes may see too. */
  readonly state?: true;
  /** Holds no values of fields, so no rule about a field hides it. */
  readonly plain?: true;
  /** Too frequent for webhooks, which cannot name it. */
  readonly stream?: true;
};

const kinds = {
  'node.created': {},
  'node.updated': {},
  'node.deleted': {},
  'node.moved': { plain: true },
  'node.power': { plain: true },
  'node.frozen': { plain: true },
  'node.unfrozen': { plain: true },
  'node.fault.acknowledged': { plain: true },
  'node.maintenance.set': {},
  'node.maintenance.cleared': {},
  'node.traits.set': {},
  'node.console.set': {},
  'node.console.ticket': {},
  'node.vif.attached': {},
  'node.vif.detached': {},
  'node.ramdisk_conflict': {},

  'run.accepted': {},
  'run.restarted': {},
  'run.waiting': {},
  'run.parked': {},
  'run.paused': {},
  'run.retrying': {},
  'run.succeeded': { ends: true },
  'run.failed': { ends: true },
  'run.aborted': { ends: true },
  // Acts of callers on a run. An act that the run refused has both events.
  'run.abort': {},
  'run.pause': {},
  'run.pause.refused': {},
  'run.resume': {},
  'run.resume.refused': {},
  'run.retry': {},
  'run.retry.refused': {},
  'run.skip': {},
  'run.skip.refused': {},
  'run.fail': {},
  'run.fail.refused': {},
  'run.unhold': {},
  // Only Temporal's own tools cause it.
  'run.cancel': {},

  'step.begun': {},
  'step.tried': {},
  'step.waiting': {},
  'step.parked': {},
  'step.done': {},
  'step.skipped': {},
  'step.failed': {},
  'act.done': { stream: true },

  'rollout.planned': {},
  'rollout.replanned': {},
  'rollout.submitted': {},
  'rollout.approved': {},
  'rollout.rejected': {},
  'rollout.scheduled': {},
  'rollout.started': { state: true },
  'rollout.running': {},
  'rollout.paused': { state: true },
  'rollout.resumed': { state: true },
  'rollout.advanced': {},
  'rollout.adopted': {},
  'rollout.aborted': { state: true },
  'rollout.stopped': { state: true },
  'rollout.succeeded': { state: true },
  'rollout.expired': { state: true },
  'rollout.forced': {},
  'rollout.budget_overridden': {},
  'rollout.asked': {},
  'rollout.answered': {},
  'rollout.skip': {},
  'rollout.retry': {},
  'rollout.target.admitted': {},
  'rollout.target.soaking': {},
  'rollout.target.done': {},
  'rollout.target.failed': {},
  'rollout.target.parked': {},
  'rollout.target.aborted': {},
  'rollout.target.skipped': {},

  'allocation.created': {},
  'allocation.updated': {},
  'allocation.deleted': {},
  'allocation.reserved': {},
  'allocation.failed': {},
  'runbook.created': {},
  'runbook.updated': {},
  'runbook.deleted': {},
  'runbook.withdrawn': {},
  'port.created': {},
  'port.updated': {},
  'port.deleted': {},
  'portgroup.created': {},
  'portgroup.updated': {},
  'portgroup.deleted': {},
  'volume_connector.created': {},
  'volume_connector.updated': {},
  'volume_connector.deleted': {},
  'volume_target.created': {},
  'volume_target.updated': {},
  'volume_target.deleted': {},
  'chassis.created': {},
  'chassis.updated': {},
  'chassis.deleted': {},
  'deploy_template.created': {},
  'deploy_template.updated': {},
  'deploy_template.deleted': {},
  'inspection_rule.created': {},
  'inspection_rule.updated': {},
  'inspection_rule.deleted': {},
  'webhook.created': {},
  'webhook.updated': {},
  'webhook.deleted': {},
  'ramdisk.created': {},
  'ramdisk.deleted': {},
  'image.created': {},
  'image.deleted': {},
  'disruption_budget.created': {},
  'disruption_budget.updated': {},
  'disruption_budget.deleted': {},
  'window.created': {},
  'window.deleted': {},
  'discovered_machine.reported': {},
  'discovered_machine.enrolled': {},
  'discovered_machine.refused': {},
  'discovered_machine.deleted': {},
} as const satisfies Readonly<Record<string, KindFacts>>;

export type EventKind = keyof typeof kinds;

type SubjectOf<Kind> = Kind extends `${infer Subject}.${string}` ? Subject : never;

/** Texts before `.created`. */
export type RecordSubject = SubjectOf<Extract<EventKind, `${string}.created`>>;

const kindNames = Object.keys(kinds) as EventKind[];

const kindFacts = (kind: EventKind): KindFacts => kinds[kind];

export const kindsWith = (fact: keyof KindFacts): readonly EventKind[] =>
  kindNames.filter((kind) => kindFacts(kind)[fact]);

export const isEventKind = (text: string): text is EventKind => Object.hasOwn(kinds, text);

export const webhookKinds: readonly EventKind[] = kindNames.filter((kind) => !kindFacts(kind).stream);
