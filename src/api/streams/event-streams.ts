/** Event streams, bounded per caller. One event tail feeds all of them. */
import type { Inventory } from '../../inventory';
import { type Caller, quotaProject } from '../../model/access/callers';
import { quotaFacts } from '../../model/access/quotas';
import { raise } from '../../model/errors';
import type { ErrorLog } from '../../model/log';
import { callerKey } from '../server/caller-key';
import { type Concerns, createEventTail, type Tailing } from './event-tail';

export type Opener = {
  readonly caller: string;
  /** Null for no quota. */
  readonly project: string | null;
  readonly ofSystem: boolean;
};

export const openerOf = (who: Caller): Opener => ({
  caller: callerKey(who),
  project: quotaProject(who),
  ofSystem: who.system_scope !== null,
});

export type Streams = {
  /** Throws TooManyStreams, QuotaExceeded. */
  open(opener: Opener, concerns: Concerns): Promise<Tailing>;
  readonly open_count: number;
  /** Ends all streams. */
  close(): void;
};

export type StreamsOptions = {
  readonly inventory: Inventory;
  readonly log: ErrorLog;
  /** Limits of all callers, and of one. */
  readonly limit?: number;
  readonly limitOfOne?: number;
  /** Limit of one project in this process; none if absent or 0. */
  readonly quota?: number;
  readonly onCount?: (open: number) => void;
};

/** Without this share for system callers, a few projects could use all streams. */
const ofSystemShare = 1 / 5;
const limitByDefault = 200;

/** Throws TooManyStreams, QuotaExceeded. */
const requireRoom = (
  subscribers: ReadonlySet<Opener>,
  { caller, project, ofSystem }: Opener,
  { limit = limitByDefault, limitOfOne = 20, quota = 0 }: StreamsOptions,
): void => {
  if (subscribers.size >= limit) raise('TooManyStreams', { limit, whose: 'open' });
  const others = [...subscribers].filter((opener) => !opener.ofSystem).length;
  const ofOthers = limit - Math.floor(limit * ofSystemShare);
  if (!ofSystem && others >= ofOthers) raise('TooManyStreams', { limit: ofOthers, whose: 'of projects open' });
  const own = [...subscribers].filter((opener) => opener.caller === caller).length;
  if (own >= limitOfOne) raise('TooManyStreams', { limit: limitOfOne, whose: 'of this caller open' });
  const ofProject = [...subscribers].filter((opener) => opener.project === project).length;
  if (project !== null && quota > 0 && ofProject >= quota)
    raise('QuotaExceeded', quotaFacts('streams', project, quota));
};

export const createStreams = (options: StreamsOptions): Streams => {
  const subscribers = new Set<Opener>();
  const tail = createEventTail(options);
  const enter = (opener: Opener): (() => void) => {
    const subscriber = { ...opener }; // an opener may have several streams
    const count = (): void => options.onCount?.(subscribers.size);
    subscribers.add(subscriber);
    count();
    return () => {
      if (subscribers.delete(subscriber)) count();
    };
  };
  return {
    get open_count() {
      return subscribers.size;
    },
    async open(opener, concerns) {
      const { limit = limitByDefault } = options;
      if (tail.closing.aborted) raise('TooManyStreams', { limit, whose: 'open' });
      requireRoom(subscribers, opener, options);
      const leave = enter(opener);
      const tailing = await tail.open(concerns).catch((thrown) => {
        leave();
        throw thrown;
      });
      return {
        ...tailing,
        close() {
          tailing.close();
          leave();
        },
      };
    },
    close: tail.close,
  };
};
