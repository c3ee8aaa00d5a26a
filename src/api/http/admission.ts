/** Who asks, from where, and whether it is one request too many. */
import type { Request } from 'express';
import { anonymous, type Caller } from '../../model/access/callers';
import type { TemperError } from '../../model/errors';
import { type Origin, originOf } from '../../model/resources/audit';
import { asTemperError } from './errors';
import { addressOf } from './proxies';
import { globalRequestId } from './request-ids';
import type { Route } from './route';

const publicCaller: Caller = { ...anonymous, is_public_api: true };

/** Whether the route needs no login. */
export const isOpen = ({ rules, open }: Route): boolean => rules === 'public' || open === true;

/** Where a request came from, and what it is part of. */
export const originFrom = (request: Request): Origin => {
  const global_request_id = globalRequestId(request.headers);
  const origin = originOf(addressOf(request), request.get('x-forwarded-for'));
  return { ...origin, ...(global_request_id && { global_request_id }) };
};

/** Who asks, counted as such; throws Unauthenticated, TooManyRequests. */
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

/** The refusal of a caller without valid credentials, or of one request too many. Open routes are counted before. */
export const countedRefusal = async (error: TemperError, count: () => Promise<void>): Promise<TemperError> => {
  if (error.code !== 'Unauthenticated') return error;
  return count().then(
    () => error,
    (thrown) => asTemperError(thrown, ''),
  );
};
