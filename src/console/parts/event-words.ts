/** Events in words: one sentence for each kind. */
import { type EventKind, isEventKind } from '../../model/resources/event-kinds';
import type { Tone } from './texts';

type EventData = Readonly<Record<string, unknown>>;

/** Fields of the data stand in braces. A part in brackets is left out if one of its fields is missing. */
type Wording = string | readonly [tone: Tone, text: string];

const record = <Subject extends string>(subject: Subject, name: string) =>
  ({
    [`${subject}.created`]: `${name} created[: {name}]`,
    [`${subject}.updated`]: `${name} changed[: {changed}]`,
    [`${subject}.deleted`]: `${name} deleted[: {name}]`,
  }) as Record<`${Subject}.${'created' | 'updated' | 'deleted'}`, Wording>;

const wordings: Readonly<Record<EventKind, Wording>> = {
  'node.created': 'Enrolled[ with driver {driver}]',
  'node.updated': 'Settings changed[: {changed}]',
  'node.deleted': 'Deleted',
  'node.moved': 'State: {from} → {to}',
  'node.power': 'Power: {from} → {to}[ ({by})]',
  'node.frozen': ['wait', 'Frozen[: {reason}]'],
  'node.unfrozen': ['good', 'Freeze ended[: {reason}]'],
  'node.fault.acknowledged': 'Fault acknowledged',
  'node.maintenance.set': ['wait', 'Maintenance set[ by {by}][: {maintenance_reason}]'],
  'node.maintenance.cleared': ['good', 'Maintenance ended[ by {by}]'],
  'node.traits.set': 'Traits changed[: {traits}]',
  'node.console.set': 'Serial console switched[ (enabled: {console_enabled})]',
  'node.console.ticket': 'Serial console opened',
  'node.vif.attached': 'Network attached[: {vif}]',
  'node.vif.detached': 'Network detached[: {vif}]',
  'node.ramdisk_conflict': ['bad', 'Two ramdisks answered for this node'],

  'run.accepted': 'Queued[: {from} → {to}][, power target {target}][, runbook {runbook}]',
  'run.restarted': ['wait', 'Continued from its record[: {reason}]'],
  'run.waiting': ['wait', 'Waiting[ for {waiting_for}]'],
  'run.parked': ['wait', 'Parked: needs a decision[: {error}]'],
  'run.paused': ['wait', 'Paused'],
  'run.retrying': ['wait', 'Retrying[ {step}]'],
  'run.succeeded': ['good', 'Succeeded[: {from} → {to}]'],
  'run.failed': ['bad', 'Failed[: {error}]'],
  'run.aborted': ['bad', 'Aborted[: {error}]'],
  'run.abort': 'Abort requested[ by {by}][: {reason}]',
  'run.pause': 'Pause requested[ by {by}][: {reason}]',
  'run.pause.refused': ['wait', 'Pause refused[: {reason}]'],
  'run.resume': 'Resume requested[ by {by}][: {reason}]',
  'run.resume.refused': ['wait', 'Resume refused[: {reason}]'],
  'run.retry': 'Retry requested[ by {by}][: {reason}]',
  'run.retry.refused': ['wait', 'Retry refused[: {reason}]'],
  'run.skip': 'Skip requested[ by {by}][: {reason}]',
  'run.skip.refused': ['wait', 'Skip refused[: {reason}]'],
  'run.fail': 'Failing the run requested[ by {by}][: {reason}]',
  'run.fail.refused': ['wait', 'Failing the run refused[: {reason}]'],
  'run.unhold': 'Hold released[ by {by}][: {reason}]',
  'run.cancel': 'Cancelled in Temporal[ by {by}][: {reason}]',

  'step.begun': '{step} started[: {act}][, attempt {attempt}]',
  'step.tried': ['bad', '{step} failed[ in attempt {attempt}][: {error}]'],
  'step.waiting': ['wait', '{step} is waiting[: {note}]'],
  'step.parked': ['wait', '{step} parked: needs a decision[: {error}][: {note}]'],
  'step.done': ['good', '{step} done[ ({note})][, power {power_state}]'],
  'step.skipped': ['wait', '{step} skipped[: {note}]'],
  'step.failed': ['bad', '{step} failed[: {error}]'],
  'act.done': '{step}: {act} done[ ({note})][, power {power_state}]',

  'rollout.planned': 'Rollout planned[: {reason}]',
  'rollout.replanned': 'Rollout planned again[: {reason}]',
  'rollout.submitted': 'Rollout submitted for approval[: {reason}]',
  'rollout.approved': ['good', 'Rollout approved[: {reason}]'],
  'rollout.rejected': ['bad', 'Rollout rejected[: {reason}]'],
  'rollout.scheduled': 'Rollout scheduled[: {reason}]',
  'rollout.started': 'Rollout started[: {reason}]',
  'rollout.running': 'Rollout running[: {reason}]',
  'rollout.paused': ['wait', 'Rollout paused[: {reason}]'],
  'rollout.resumed': 'Rollout resumed[: {reason}]',
  'rollout.advanced': 'Next wave of the rollout opened[: {reason}]',
  'rollout.adopted': 'Rollout adopted[: {reason}]',
  'rollout.aborted': ['bad', 'Rollout aborted[: {reason}]'],
  'rollout.stopped': ['bad', 'Rollout stopped[: {reason}]'],
  'rollout.succeeded': ['good', 'Rollout succeeded'],
  'rollout.expired': ['bad', 'Rollout expired[: {reason}]'],
  'rollout.forced': ['wait', 'Rollout continued without consent[: {reason}]'],
  'rollout.budget_overridden': ['wait', 'Disruption budget overridden[: {reason}]'],
  'rollout.asked': ['wait', 'Rollout requested consent[ for {runbook}][, answer by {answer_by}]'],
  'rollout.answered': 'Consent answered[: {answer}][ {at}][ in window {window}][: {reason}]',
  'rollout.skip': 'Skip in the rollout requested[: {reason}]',
  'rollout.retry': 'Retry in the rollout requested[: {reason}]',
  'rollout.target.admitted': 'Rollout started work on this node',
  'rollout.target.soaking': 'Rollout observes this node after its work',
  'rollout.target.done': ['good', 'Rollout finished this node'],
  'rollout.target.failed': ['bad', 'Rollout failed on this node[: {reason}]'],
  'rollout.target.parked': ['wait', 'Rollout parked on this node: needs a decision[: {reason}]'],
  'rollout.target.aborted': ['bad', 'Rollout aborted on this node[: {reason}]'],
  'rollout.target.skipped': ['wait', 'Rollout skipped this node[: {reason}]'],

  ...record('allocation', 'Allocation'),
  'allocation.reserved': 'Reserved[ for allocation {name}]',
  'allocation.failed': ['bad', 'Allocation failed[: {error}]'],
  ...record('runbook', 'Runbook'),
  'runbook.withdrawn': ['wait', 'Runbook revision withdrawn'],
  ...record('port', 'Port'),
  ...record('portgroup', 'Port group'),
  ...record('volume_connector', 'Volume connector'),
  ...record('volume_target', 'Volume target'),
  ...record('chassis', 'Chassis'),
  ...record('deploy_template', 'Deploy template'),
  ...record('inspection_rule', 'Inspection rule'),
  ...record('webhook', 'Webhook'),
  'ramdisk.created': 'Ramdisk created[: {name}]',
  'ramdisk.deleted': 'Ramdisk deleted[: {name}]',
  'image.created': 'Image created[: {name}]',
  'image.deleted': 'Image deleted[: {name}]',
  ...record('disruption_budget', 'Disruption budget'),
  'window.created': 'Maintenance window created[: {name}]',
  'window.deleted': 'Maintenance window deleted[: {name}]',
  'discovered_machine.reported': 'Machine discovered',
  'discovered_machine.enrolled': 'Discovered machine enrolled',
  'discovered_machine.refused': ['wait', 'Discovered machine refused[: {reason}]'],
  'discovered_machine.deleted': 'Discovered machine deleted',
};

const wordOf = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(wordOf).join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

const filled = (text: string, data: EventData): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => wordOf(data[name]));

const lacks = (part: string, data: EventData): boolean =>
  [...part.matchAll(/\{(\w+)\}/g)].some(([, name]) => wordOf(data[name!]) === '');

export type EventWords = { readonly tone?: Tone; readonly says: string };

/** A kind of a newer API is shown by its name. */
export const wordsOf = (kind: string, data: EventData): EventWords => {
  const wording: Wording = isEventKind(kind) ? wordings[kind] : kind.replaceAll(/[._]/g, ' ');
  const [tone, text] = typeof wording === 'string' ? [undefined, wording] : wording;
  const named = text.startsWith('{step}') ? { step: 'Step', ...data } : data;
  const says = text.replaceAll(/\[([^\]]*)\]/g, (_, part: string) => (lacks(part, named) ? '' : part));
  return { ...(tone && { tone }), says: filled(says, named) };
};
