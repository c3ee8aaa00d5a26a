/** Wire that keeps the BMC's pace and reports every request. */
import { textOf } from '../../../model/texts';
import type { BmcObserver, BmcRequestKind } from '../../contract';
import { type Pace, restingError } from './pacing';
import { type Reply, retryAfterMs } from './replies';
import type { Wire, WireAnswer, WireRequest } from './wire';

const requestKind = ({ kind, method }: WireRequest): BmcRequestKind => kind ?? (method === 'GET' ? 'read' : 'write');

/** Vendor property by resource type. */
const vendorFields: Readonly<Record<string, string>> = { ServiceRoot: 'Vendor', ComputerSystem: 'Manufacturer' };

const vendorIn = ({ body }: Reply): string | undefined => {
  const resource = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  const type = /^#(\w+)\./.exec(textOf(resource['@odata.type']))?.[1] ?? '';
  const vendor = Object.hasOwn(vendorFields, type) ? resource[vendorFields[type]!] : undefined;
  return typeof vendor === 'string' && vendor !== '' ? vendor : undefined;
};

const pleas: readonly number[] = [429, 503];

/** Retry-After of a login concerns sessions only; basic credentials may still work. */
const pleaOf = (kind: BmcRequestKind, reply: Reply): number | undefined =>
  kind === 'login' || !pleas.includes(reply.status) ? undefined : retryAfterMs(reply);

export const pacedWire = (wire: Wire, pace: Pace, bmc: string, observe: BmcObserver | undefined): Wire => {
  const timed = async (kind: BmcRequestKind, send: () => Promise<WireAnswer>): Promise<WireAnswer> => {
    const began = performance.now();
    let status = 0;
    try {
      const answer = await send();
      if ('reply' in answer) status = answer.reply.status;
      return answer;
    } finally {
      observe?.request(kind, performance.now() - began, status, bmc);
    }
  };

  const learnFrom = (kind: BmcRequestKind, reply: Reply): void => {
    const vendor = vendorIn(reply);
    if (vendor !== undefined) pace.learn(vendor);
    const plea = pleaOf(kind, reply);
    if (plea !== undefined) pace.rest(plea);
  };

  return {
    async send(ask, credentials) {
      const kind = requestKind(ask);
      // A logout is not paced: the worker stops or the session is useless.
      if (kind === 'logout') return timed(kind, () => wire.send(ask, credentials));
      return pace.turn(kind, ask.signal, async (): Promise<WireAnswer> => {
        if (pace.restingMs() > 0)
          return { failed: { error: restingError(pace, { node: ask.node, bmc, what: ask.what }), neverSent: true } };
        const answer = await timed(kind, () => wire.send(ask, credentials));
        if ('reply' in answer) learnFrom(kind, answer.reply);
        return answer;
      });
    },
    close: () => wire.close(),
  };
};
