/** Sends Ironic's notifications: one process of the installation reads the feed, and keeps its place in PostgreSQL. */
import type { Inventory } from '../inventory';
import type { FeedPlace } from '../inventory/feed';
import type { KnownRows } from '../inventory/notifications';
import type { Log } from '../model/log';
import {
  type Noticed,
  type NoticedEvent,
  type NotificationLevel,
  notificationLevels,
} from '../model/notifications/notice';
import { noticesOf } from '../model/notifications/notices';
import { passUntil, pause } from '../model/passes';
import type { Broker } from './broker';
import { osloMessage } from './envelope';
import { payloadOf } from './payload';

export { type BrokerSettings, connectBroker } from './broker';

export type NotificationDeps = {
  readonly inventory: Inventory;
  readonly connect: () => Promise<Broker>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** In `publisher_id`. */
  readonly host: string;
  /** Lower ones are not sent. */
  readonly level: NotificationLevel;
  readonly onSent?: (outcome: 'sent' | 'failed', count: number) => void;
  /** @param seconds age of the oldest event that is not sent */
  readonly onBehind?: (seconds: number) => void;
};

/** Events of one look, whose messages are confirmed together. Each may be of a row with MiBs of documents. */
const eventsAtOnce = 20;
const lookEachMs = 1_000;
const afterFailureMs = 5_000;

type SentEvent = NoticedEvent & FeedPlace;

const isSent = (least: NotificationLevel, level: NotificationLevel): boolean =>
  notificationLevels.indexOf(level) >= notificationLevels.indexOf(least);

const messagesOf = (event: SentEvent, { uuid, table, notices }: Noticed, rows: KnownRows, deps: NotificationDeps) => {
  const row = rows(table, uuid, event);
  return notices.map((notice, index) => {
    const key = `${event.tx} ${event.seq} ${index} ${uuid}`;
    return osloMessage(notice, payloadOf(notice, uuid, row), { at: event.at, host: deps.host, key });
  });
};

/** An event of which no notification can be made must not stop those after it. */
const orNone = <Made>(event: SentEvent, deps: NotificationDeps, make: () => Made[]): Made[] => {
  try {
    return make();
  } catch (thrown) {
    deps.log.warn('no notification could be made of an event', {
      seq: event.seq,
      kind: event.kind,
      reason: String(thrown),
    });
    deps.onSent?.('failed', 1);
    return [];
  }
};

const wanted = (event: SentEvent, level: NotificationLevel): { event: SentEvent; of: Noticed }[] => {
  const of = noticesOf(event);
  const notices = of?.notices.filter((notice) => isSent(level, notice.level)) ?? [];
  return of && notices.length > 0 ? [{ event, of: { ...of, notices } }] : [];
};

/**
 * Sends the events of one look, then moves the place behind them. After a failure in between, they are sent again.
 * @returns whether there may be more at once
 */
export const sendOnce = async (deps: NotificationDeps, broker: Pick<Broker, 'send'>): Promise<boolean> => {
  const { notifications } = deps.inventory;
  const place = await notifications.place();
  const events = await notifications.after(place, eventsAtOnce);
  const found = events.flatMap((event) => orNone(event, deps, () => wanted(event, deps.level)));
  const rows = await notifications.rows(found.map(({ event: { seq }, of: { table, uuid } }) => ({ seq, table, uuid })));
  const messages = found.flatMap(({ event, of }) => orNone(event, deps, () => messagesOf(event, of, rows, deps)));
  if (messages.length > 0) await broker.send(messages);
  deps.onSent?.('sent', messages.length);
  const last = events.at(-1);
  if (last && !(await notifications.move(place, last)))
    throw new Error('another process has sent these notifications meanwhile');
  return events.length >= eventsAtOnce;
};

const behind = async ({ inventory, onBehind }: NotificationDeps): Promise<void> =>
  onBehind?.(await inventory.notifications.behindSeconds());

/** Runs under the lock. Throws if the broker or PostgreSQL is away. */
const lead = async (deps: NotificationDeps, signal: AbortSignal): Promise<void> => {
  await deps.inventory.notifications.place(); // also if the broker is away, so that deleted rows are kept for it
  await behind(deps);
  const broker = await deps.connect();
  const stop = () => void broker.close();
  signal.addEventListener('abort', stop, { once: true });
  deps.log.info('sending notifications', {});
  try {
    while (!signal.aborted) {
      const more = await sendOnce(deps, broker);
      await behind(deps);
      if (!more) await pause(lookEachMs, signal);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await broker.close();
  }
};

export const runNotifications = (
  deps: NotificationDeps,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> => {
  const failing = 'notifications cannot be sent now';
  const wait = (led: true | undefined) => pause(led === undefined ? afterFailureMs : lookEachMs, signal);
  return passUntil({ signal, log: deps.log, failing, wait }, async () => {
    const led = await deps.inventory.alone('notifications', () => lead(deps, signal).then(() => true as const));
    // Otherwise the age from when it sent would stay, with the alert.
    if (!led) await behind(deps);
    return true as const;
  });
};
