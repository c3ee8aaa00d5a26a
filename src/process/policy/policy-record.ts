/** Writes policy loads into the audit trail, with retries during an outage of PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Inventory } from '../../inventory';
import { isStoreAway } from '../../inventory/database';
import type { PolicyLoad } from '../../model/access/policy-loads';
import { shownMessage } from '../../model/access/secrets';
import type { Logger } from '../../observe/log';

const againEveryMs = 5_000;
/** The oldest is dropped above this; the log still has it. */
const mostWaiting = 100;
const longestReason = 500;

type PolicyLoads = { readonly policyLoads: Pick<Inventory['policyLoads'], 'record' | 'list'> };

export type PolicyRecorder = {
  /** Queues a load until PostgreSQL is available. */
  readonly record: (load: PolicyLoad) => void;
  readonly writeTo: (store: PolicyLoads) => void;
  readonly close: () => void;
};

const awaySentence = (error: unknown): string => {
  const reason = shownMessage(error, longestReason);
  return `a policy load is not in the audit trail yet: PostgreSQL says "${reason}"; tried again every ${againEveryMs / 1_000} s`;
};

export const createPolicyRecorder = (log: Logger): PolicyRecorder => {
  const waiting: (PolicyLoad & { readonly host: string; readonly request_id: string })[] = [];
  let store: PolicyLoads | undefined;
  let writing = false;
  let said = false;
  const write = async (): Promise<void> => {
    if (writing || !store) return;
    writing = true;
    try {
      for (let load = waiting[0]; load; load = waiting[0]) {
        await store.policyLoads.record(load);
        waiting.shift();
        said = false;
      }
    } catch (error) {
      // One line per outage: retries are frequent.
      if (!isStoreAway(error)) log.warn('a policy load is not in the audit trail yet', { error });
      else if (!said) log.warn(awaySentence(error));
      said = true;
    } finally {
      writing = false;
    }
  };
  const timer = setInterval(() => void write(), againEveryMs);
  timer.unref();
  return {
    record: (load) => {
      waiting.push({ ...load, host: hostname(), request_id: `req-${randomUUID()}` });
      if (waiting.length > mostWaiting) waiting.shift();
      void write();
    },
    writeTo: (given) => {
      store = given;
      void write();
    },
    close: () => clearInterval(timer),
  };
};
