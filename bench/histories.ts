/** What a finished run cost the engine: its activities in their order, and the events of its history. */
import type { WorkflowHandle } from '@temporalio/client';
import type { Kind } from './noop/contract';

export type Written = { readonly kinds: readonly Kind[]; readonly events: number; readonly by_type: Counts };
type Counts = Readonly<Record<string, number>>;

const groupQueue = /-bmc\./;

/** The attributes of an event are in the one property that it has besides its head. */
type Scheduled = { readonly taskQueue?: { readonly name?: string | null } | null };
type Marker = { readonly markerName?: string | null };
type HistoryEvent = {
  readonly activityTaskScheduledEventAttributes?: Scheduled | null;
  readonly markerRecordedEventAttributes?: Marker | null;
};

const kindOf = ({
  activityTaskScheduledEventAttributes: scheduled,
  markerRecordedEventAttributes: marker,
}: HistoryEvent): Kind[] => {
  if (marker?.markerName === 'core_local_activity') return ['local'];
  if (!scheduled) return [];
  return [groupQueue.test(scheduled.taskQueue?.name ?? '') ? 'step' : 'control'];
};

const typeOf = (event: object): string =>
  Object.keys(event)
    .find((key) => key.endsWith('EventAttributes'))
    ?.replace('EventAttributes', '') ?? 'unknown';

/** Reads the history of a run that has ended. */
export const historyOf = async (handle: WorkflowHandle): Promise<Written> => {
  const { events = [] } = await handle.fetchHistory();
  const by_type: Record<string, number> = {};
  for (const event of events ?? []) by_type[typeOf(event)] = (by_type[typeOf(event)] ?? 0) + 1;
  return { kinds: (events ?? []).flatMap(kindOf), events: events?.length ?? 0, by_type };
};
