/** What the faults do that strike before a request is looked at. */

import { setTimeout as sleep } from 'node:timers/promises';
import { errorAnswer } from './answers';
import type { FaultKind } from './fault-kinds';
import type { ActiveFault, Answer, Bmc } from './types';

type Struck = Answer | 'drop' | undefined;

const tooManySessions = 5;

const effects: Partial<Record<FaultKind, (fault: ActiveFault, bmc: Bmc) => Struck | Promise<Struck>>> = {
  latency: async (fault) => {
    await sleep(fault.ms ?? 1000, undefined, { ref: false });
    return undefined;
  },
  hang: async (fault) => {
    await sleep(fault.ms ?? 60_000, undefined, { ref: false });
    return 'drop' as const;
  },
  'http-503': (fault) =>
    errorAnswer(503, 'ServiceTemporarilyUnavailable', 'The service is temporarily unavailable.', {
      'Retry-After': String(fault.retryAfter ?? 1),
    }),
  'http-500': () => errorAnswer(500, 'InternalError', 'The request failed due to an internal service error.'),
  'html-504': () => ({
    status: 504,
    html: '<html><body><h1>504 Gateway Time-out</h1></body></html>',
    headers: { 'Content-Type': 'text/html' },
  }),
  'auth-refused': () =>
    errorAnswer(401, 'NoValidSession', 'There is no valid session established with the implementation.'),
  'drop-before': () => 'drop',
  'slow-death': async (fault, { state }) => {
    if (state.sessions.length >= tooManySessions) return 'drop';
    await sleep((fault.ms ?? 1000) * state.sessions.length, undefined, { ref: false });
    return undefined;
  },
  'etag-mismatch': () =>
    errorAnswer(
      412,
      'PreconditionFailed',
      'The ETag supplied did not match the ETag required to change this resource.',
    ),
};

/** Lets the faults do their work in order; undefined when the request may go on. */
export const strikeBefore = async (faults: readonly ActiveFault[], bmc: Bmc): Promise<Struck> => {
  for (const fault of faults) {
    const struck = await effects[fault.kind]?.(fault, bmc);
    if (struck !== undefined) return struck;
  }
  return undefined;
};
