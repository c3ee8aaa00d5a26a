/** Admission of requests: caller, origin and rate limit. */
import type { Request } from 'express';
import { anonymous, type Caller } from '../../model/access/callers';
import type { TemperError } from '../../model/errors';
import { type Origin, originOf } from '../../model/resources/audit';
import { asTemperError } from './errors';
import { addressOf } from './proxies';
import { globalRequestId } from './request-ids';
import type { Route } from './route';

const publicCaller: Caller = { ...anonymous, is_public_api: true };

/** True if the route needs no login. */
export const isOpen = ({ rules, open }: Route): boolean => rules === 'public' || open === true;

export const originFrom = (request: Request): Origin => {
  const global_request_id = globalRequestId(request.headers);
  const origin = originOf(addressOf(request), request.get('x-forwarded-for'));
  return { ...origin, ...(global_request_id && { global_request_id }) };
};

/** The counted caller. Throws Unauthenticated, TooManyRequests. */
export const admitted = async (
  route: Route,
  identify: () => Promise<Caller>,
  count: { caller(who: Caller): Promise<void>; address(): Promise<void> },
): Promise<Caller> => {
  if (isOpen(route)) {
    await count.address();
    return publicCaller;
  }
  const who = await identify();
  await count.caller(who);
  return who;
};

/** Counts an unauthenticated request; over the limit, returns TooManyRequests. Open routes count earlier. */
export const countedRefusal = async (error: TemperError, count: () => Promise<void>): Promise<TemperError> => {
  if (error.code !== 'Unauthenticated') return error;
  return count().then(
    () => error,
    (thrown) => asTemperError(thrown, ''),
  );
};
