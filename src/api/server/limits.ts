/** Rate limits per minute, by caller, or by address without a login. */
import type { Request, Response } from 'express';
import { type IncrementResponse, MemoryStore, rateLimit } from 'express-rate-limit';
import type { Caller } from '../../model/access/callers';
import { TemperError } from '../../model/errors';
import { callerKey } from './caller-key';
import { senderOf } from './proxies';

/** Each counts a request at most once. Throws TooManyRequests. */
export type Limits = {
  ofCaller(request: Request, response: Response, who: Caller): Promise<void>;
  ofAddress(request: Request, response: Response): Promise<void>;
};

const windowMs = 60_000;

/** The memory store always sets the window's end. */
type LimitedRequest = Request & { readonly rateLimit: { readonly resetTime: Date } };

const tooMany = (request: Request, limit: number): TemperError => {
  const left = (request as LimitedRequest).rateLimit.resetTime.getTime() - Date.now();
  return new TemperError('TooManyRequests', { limit, seconds: Math.max(1, Math.ceil(left / 1_000)) });
};

/** Safe for concurrent requests and for clock changes. */
class RequestCounts extends MemoryStore {
  /** A copy: the library's object changes with the next request. */
  override async increment(key: string): Promise<IncrementResponse> {
    if (this.#isOfAnotherClock(key)) void this.resetKey(key);
    void super.increment(key);
    return { ...this.current.get(key)! };
  }

  /** The clock was set back after such a window started, which would last too long. */
  #isOfAnotherClock(key: string): boolean {
    const window = this.current.get(key) ?? this.previous.get(key);
    return window !== undefined && window.resetTime.getTime() - Date.now() > this.windowMs;
  }
}

type Count = (request: Request, response: Response, keyOf: () => string) => Promise<void>;

const uncounted = Promise.resolve();

const counter = (perMinute: number | undefined, keys: WeakMap<Request, string>): Count => {
  if (perMinute === undefined) return () => uncounted;
  const limiter = rateLimit({
    store: new RequestCounts(),
    windowMs,
    limit: perMinute,
    identifier: 'requests',
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (request) => keys.get(request)!,
    handler: (request, _response, next) => next(tooMany(request, perMinute)),
    validate: false, // the checks assume keys made of addresses alone
  });
  return (request, response, keyOf) => {
    if (keys.has(request)) return Promise.resolve();
    keys.set(request, keyOf());
    return new Promise((done, fail) => {
      void limiter(request, response, (thrown?: unknown) => (thrown ? fail(thrown) : done()));
    });
  };
};

/** Requests per minute; undefined disables the count. */
export type LimitSettings = { readonly caller?: number; readonly address?: number };

const smaller = (one = Number.POSITIVE_INFINITY, other = Number.POSITIVE_INFINITY): number | undefined => {
  const least = Math.min(one, other);
  return least === Number.POSITIVE_INFINITY ? undefined : least;
};

/** An address never gets more than a caller. */
export const createLimits = (perMinute: LimitSettings): Limits => {
  const keys = new WeakMap<Request, string>();
  const countCaller = counter(perMinute.caller, keys);
  const address = smaller(perMinute.caller, perMinute.address);
  const countAddress = counter(address, keys);
  return {
    ofCaller: (request, response, who) => countCaller(request, response, () => callerKey(who)),
    ofAddress: (request, response) => countAddress(request, response, () => `address ${senderOf(request)}`),
  };
};
