/** Limits on refusals in the audit trail: equal ones are counted, and each caller has a maximum per minute. */
import type { RequestRow } from '../../inventory/audit';

type RefusalCounterOptions = {
  /** Writes a row; must not throw. */
  readonly write: (row: RequestRow) => Promise<void>;
  readonly now?: () => number;
  /** Length of a window in which equal refusals are counted; default one minute. */
  readonly windowMs?: number;
  /** Maximum of different refusals per caller and window; default 60. */
  readonly most?: number;
};

type CountedRefusal = { row: RequestRow; times: number };
type RefusalWindow = {
  readonly ends: number;
  readonly seen: Map<string, CountedRefusal>;
  /** Refusals above the maximum, of all kinds. */
  readonly beyond: CountedRefusal[];
};

const callerOf = ({ requester: { strategy, user_id, user_name, project_id, system_scope } }: RequestRow): string =>
  JSON.stringify([strategy, user_id ?? user_name, project_id, system_scope]);

const refusalKind = ({ action, verdict, rule, code, resource_id }: RequestRow): string =>
  JSON.stringify([action, verdict, rule, code, resource_id]);

/** Refusals above the maximum share one row, which has the request id of the last. */
const summed = ({ row, times }: CountedRefusal): RequestRow => ({
  ...row,
  times,
  action: '*',
  rule: null,
  code: null,
  resource: '*',
  resource_id: '*',
  node: null,
  run_id: null,
});

/** Counts equal refusals. A window's counts are written when it ends, or at `flush`. */
export const createRepeats = ({ write, now = Date.now, windowMs = 60_000, most = 60 }: RefusalCounterOptions) => {
  const windows = new Map<string, RefusalWindow>();

  const end = async (caller: string, { seen, beyond }: RefusalWindow): Promise<void> => {
    windows.delete(caller);
    for (const { row, times } of seen.values()) if (times > 0) await write({ ...row, times });
    for (const counted of beyond) await write(summed(counted));
  };

  const windowOf = async (caller: string): Promise<RefusalWindow> => {
    const open = windows.get(caller);
    if (open && open.ends > now()) return open;
    const fresh: RefusalWindow = { ends: now() + windowMs, seen: new Map(), beyond: [] };
    const ended = open && end(caller, open);
    windows.set(caller, fresh);
    await ended;
    return fresh;
  };

  const count = (row: RequestRow, counted: CountedRefusal): void => {
    counted.times += 1;
    counted.row = row;
  };

  return {
    /** Writes the row at once, or counts it. */
    async note(row: RequestRow): Promise<void> {
      const { seen, beyond } = await windowOf(callerOf(row));
      const before = seen.get(refusalKind(row));
      if (before) return count(row, before);
      if (seen.size < most) {
        seen.set(refusalKind(row), { row, times: 0 });
        return write(row);
      }
      if (beyond.length === 0) beyond.push({ row, times: 0 });
      count(row, beyond[0]!);
    },

    /** Writes the counts of ended windows, or of all. */
    async flush(all = false): Promise<void> {
      for (const [caller, window] of [...windows]) if (all || window.ends <= now()) await end(caller, window);
    },
  };
};
