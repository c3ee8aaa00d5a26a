/** Notifications without what differs from run to run, and the differences between two walks. */
import { canonicalJson } from '../../src/model/digests';
import type { Heard } from '../support/rabbitmq';

export type Recorded = {
  readonly type: string;
  readonly publisher: string;
  readonly priority: string;
  readonly payload: string;
  readonly context: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
};

/** Also within documents. */
const times = /"\d{4}-\d\d-\d\dT[^"]*"/g;

/** A time or its absence; the values differ. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replace(times, '"a time"'));

// Two threads of Ironic share the event of a task, so one of the notifications about `verifying` is lost now and then.
const isSteady = ({ data }: Recorded): boolean =>
  data.provision_state !== 'verifying' && data.previous_provision_state !== 'verifying';

export const recordedOf = (heard: readonly Heard[]): Recorded[] => heard.map(plainly).filter(isSteady);

const plainly = ({ event_type, publisher_id, priority, payload, context }: Heard): Recorded => ({
  type: event_type,
  publisher: publisher_id.split('.')[0]!,
  priority,
  payload: `${payload['ironic_object.namespace']} ${payload['ironic_object.name']} ${payload['ironic_object.version']}`,
  context: Object.keys(context).sort(),
  data: Object.fromEntries(
    Object.entries(payload['ironic_object.data'])
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => [name, plain(value)]),
  ),
});

/** The object that a message is about. */
const subjectOf = ({ type, data }: Recorded): string => `${type.split('.')[1]} ${data.uuid}`;

const grouped = (all: readonly Recorded[]): Map<string, Recorded[]> => {
  const groups = new Map<string, Recorded[]>();
  for (const one of all) groups.set(subjectOf(one), [...(groups.get(subjectOf(one)) ?? []), one]);
  return groups;
};

const text = (value: unknown): string => (value === undefined ? 'absent' : canonicalJson(value));

const ofMessages = (theirs: Recorded, ours: Recorded): string[] => {
  const names = [...new Set([...Object.keys(theirs.data), ...Object.keys(ours.data)])].sort();
  const whole = (['publisher', 'priority', 'payload', 'context'] as const).flatMap((part) =>
    text(theirs[part]) === text(ours[part])
      ? []
      : [`${theirs.type} ${part}: ${text(theirs[part])} | ${text(ours[part])}`],
  );
  const fields = names.flatMap((name) =>
    text(theirs.data[name]) === text(ours.data[name])
      ? []
      : [`${theirs.type} ${name}: ${text(theirs.data[name])} | ${text(ours.data[name])}`],
  );
  return [...whole, ...fields];
};

/** Lines `what: theirs | ours`, each once. Messages of one object are compared in their order. */
export const differences = (theirs: readonly Recorded[], ours: readonly Recorded[]): string[] => {
  const mine = grouped(ours);
  const lines = [...grouped(theirs)].flatMap(([subject, messages]) => {
    const found = mine.get(subject) ?? [];
    const [wanted, sent] = [messages, found].map((list) => list.map(({ type }) => type));
    const order = text(wanted) === text(sent) ? [] : [`order of ${subject}: ${text(wanted)} | ${text(sent)}`];
    if (order.length > 0) return order;
    return messages.flatMap((message, index) => ofMessages(message, found[index]!));
  });
  return [...new Set(lines)];
};
